package chakra

import "collsim/unit"

// Reading says how a trace is read as a program.
type Reading struct {
	Limit unit.Bytes // most bytes of a file, unpacked; 1 GiB if it is 0
	Order string     // of calls that nothing orders: "id", "time"; "" refuses them

	Alike Alike
	// What follows is for files that stand for more ranks than one.
	Ranks  int     // of the network
	Stages [][]int // ranks of the stages; nil for equal runs of successive ranks
	Groups []Group // that a file names without saying who is in them, or that are to be others
	// Shares divides the tokens of each of so many senders, of count tokens each, among as many
	// receivers, for calls whose parts differ: a trace has those of its own rank. nil refuses them.
	Shares func(ranks int, count int64) ([][]int64, error)
}

// Group names the teams of a group; a team without ranks has all.
type Group struct {
	Name  string
	Teams [][]int
}

// Alike says for how many ranks a file stands.
type Alike string

// The ways.
const (
	EachRank Alike = ""      // a file a rank
	AllRanks Alike = "all"   // one file for all ranks
	Stages   Alike = "stage" // a file for all ranks of a stage of a pipeline
)
