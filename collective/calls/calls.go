// Package calls matches the calls of ranks: which ones meet in a collective or a message, which
// rank is missing there, whose call differs, and which ranks wait for whom.
//
// Calls of one group meet by their numbers, sends and receives by their order between two ranks. A
// rank makes a call when those before it have ended, unless they are made together (Call.Batch).
// That is how streams of one GPU work at worst: a program that ends so ends however it is run.
//
// The package reads nothing and prints nothing: its findings are data.
package calls

import "collsim/collective"

// Log holds the calls of ranks.
type Log struct {
	Groups []Group
	Ranks  []Rank // by number, those without calls among them
	// Apart says that every group numbers its ranks for itself: rank 0 of two groups may be two.
	Apart bool
}

// Group is a set of ranks that call collectives together.
type Group struct {
	Name, About string // as "1", "dp"
	Ranks       []int  // in the order of the group; nil: those that call in it, ascending
	Silent      []int  // that answer no more
}

// Rank holds what one rank has recorded.
type Rank struct {
	Number int
	Calls  []Call // in the order in which they are made
	Marks  []Mark
}

// Mark says how far a rank has come in a group, beside its calls; −1 is not known.
type Mark struct {
	Group               int
	Enqueued, Completed int64 // the last number
}

// Call is a collective that a rank takes part in, or its end of a message.
type Call struct {
	Group int   // index into Log.Groups
	Seq   int64 // its number in the group
	Part  int   // its place among calls of that number
	Batch int   // equal of calls in a row that are made together; 0: made alone
	Name  string
	Kind  collective.Kind // SendRecv of a message, 0 of a name that is no kind
	Type  string          // of its elements, empty if not known
	Op    string          // that reduces, empty if not known
	// In and Out count the elements that it contributes and gets, −1 if not known. With Uneven
	// ranks may have different ones. To and From have them by rank of the group, nil if not known.
	In, Out  int64
	Uneven   bool
	To, From []int64
	Root     int   // rank, −1 if there is none or it is not known
	Peer     int   // rank at the other end of a message
	Sends    bool  // a message leaves here
	Tag      int64 // of a message, which matches at equal tags
	State    State
	Time     int64  // of its making, in ns; 0 if not known
	Frame    string // of the program's stack, empty if not known
	Own      int    // the caller's own number of it
}

// Message reports whether a call is an end of a message.
func (c *Call) Message() bool { return c.Kind == collective.SendRecv }

// State says how far a call has come.
type State uint8

// The states. An Unstated call may have any.
const (
	Unstated State = iota
	Scheduled
	Started
	Completed
)

// String returns the word of PyTorch's flight recorder.
func (s State) String() string {
	return [...]string{"", "scheduled", "started", "completed"}[s]
}

// Meeting holds the calls that make one collective, or the two ends of a message.
type Meeting struct {
	Group    int
	Seq      int64
	Part     int
	From, To int     // of a message; −1 of a collective
	Ranks    []int   // that are expected
	Calls    []*Call // theirs, nil of one that has not made it
	Missing  []int   // ranks that are known not to have made it, ascending; set by Judge
}

// First returns the call of the first rank that has made one.
func (m *Meeting) First() *Call {
	for _, c := range m.Calls {
		if c != nil {
			return c
		}
	}
	return nil
}

// Made lists the ranks that have made the call.
func (m *Meeting) Made() (ranks []int) {
	for i, c := range m.Calls {
		if c != nil {
			ranks = append(ranks, m.Ranks[i])
		}
	}
	return ranks
}
