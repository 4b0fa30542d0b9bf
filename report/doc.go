// Package report prints what package run has found: tables for people, JSON and CSV for programs,
// Markdown for documents. Equal results give equal bytes.
//
// Each fact of a result is a Column, a row of Columns: its key in JSON, its name in CSV, its
// heading in the table, and its Value. A program with a fact of its own appends a Column. All JSON
// is written from a Value.
//
// The package does not know how results are computed, and has no flags and no terminal.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	values: value.go encode.go parse.go form.go field.go
//	columns: columns.go headings.go known.go differencevalue.go gradientfields.go
//	  faultfields.go comparefields.go resultcolumns.go furthercolumns.go numericscolumns.go
//	  measuredcolumns.go programcolumns.go logged.go besides.go programjson.go
//	results: json.go line.go schema.go table.go picks.go matrix.go stream.go csv.go
//	notes: librarynotes.go ncclmodel.go differencetext.go hang.go hangfinding.go
//	  hangtable.go faulttext.go toldtext.go summary.go
//	tables: numericstext.go pivot.go pivottext.go nccltests.go ncclformat.go nccltable.go
//	explanations: explaintext.go explainjson.go verifytext.go verifyjson.go gradienttext.go
//	programs: programpasses.go programcompare.go programtext.go programloops.go programexplain.go
//	commands: estimatetext.go measuredtext.go calibratetext.go calibratejson.go calibratenccl.go
//	  tunetext.go importtext.go comparetext.go diagnose.go hangjson.go
//	pages: grid.go hanggrid.go winners.go
package report
