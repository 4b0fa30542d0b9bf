// Package report prints what package run has found: tables for people, JSON and CSV for programs,
// Markdown for documents. Equal results give equal bytes.
//
// Each fact of a result is a Column, a row of Columns: its key in JSON, its name in CSV, its
// heading in the table, and its Value. Who has one more appends it. All JSON is written of a Value.
//
// The package knows nothing of how results come about, and of flags and terminals.
package report
