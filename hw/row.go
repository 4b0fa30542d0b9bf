package hw

import (
	"context"

	"collsim/topology"
)

// Row is an executor in a table of them: all that a program has to know of it to offer it. A table
// is a slice of rows that whoever opens executors puts together; a newcomer adds a row.
type Row struct {
	Name  string // as [hardware] executor and --hw have it
	About string // what it is, in a few words
	// Keys are those of [hardware] that it takes and others may not: "transport", "hosts".
	Keys []string
	// Missing says what it lacks on this machine: a *Missing, nil if it lacks nothing.
	Missing func(context.Context) error
	// Open returns the executor that the settings ask for. Nothing needs to be started before its
	// first run.
	Open func(context.Context, Settings) (Executor, error)
}

// Settings are what a scenario says of an executor in [hardware], and the network of a point.
type Settings struct {
	Transport string   // how ranks talk
	Lab       bool     // over a network like Graph, in place of what is there
	Library   bool     // a library's own algorithm in place of a schedule's steps
	Hosts     []string // machines that ranks are on, the first ranks on the first
	Listen    string   // address at which ranks of other machines reach this process
	Graph     *topology.Graph
}
