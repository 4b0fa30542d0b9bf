// Package report prints what package run has found: tables for people, JSON and CSV for programs,
// Markdown for documents. Equal results give equal bytes.
//
// Each fact of a result is a Column, a row of Columns: its key in JSON, its name in CSV, its
// heading in the table, and its Value. A program with a fact of its own appends a Column. All JSON
// is written from a Value.
//
// The package does not know how results are computed, and has no flags and no terminal.
package report
