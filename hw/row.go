package hw

import (
	"context"

	"collsim/topology"
)

// A Row describes an executor in a table of them: everything that a program needs to offer it. The
// program that opens executors composes the table, a slice of rows; a new executor is a new row.
type Row struct {
	Name  string // the name in [hardware] executor and --hw
	About string // a few words for users
	// Keys are the keys of [hardware] that it supports and others may not: "transport", "hosts".
	Keys []string
	// Missing reports what the executor lacks on this machine: a *Missing, nil if nothing.
	Missing func(context.Context) error
	// Open returns the executor that the settings ask for. Nothing needs to be started before its
	// first run.
	Open func(context.Context, Settings) (Executor, error)
}

// Settings hold a scenario's [hardware] table and the network of a point.
type Settings struct {
	Transport string   // between ranks
	Lab       bool     // shape a network like Graph, instead of the machine's own
	Library   bool     // a library's own algorithm instead of a schedule's steps
	Hosts     []string // machines of the ranks, the first ranks on the first
	Listen    string   // address at which ranks of other machines reach this process
	Graph     *topology.Graph
	Random    bool // deliver messages in an order drawn by Seed
	Seed      int64
}
