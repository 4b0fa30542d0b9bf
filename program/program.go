package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
)

// A Program is what all ranks do: ops in order, on tensors that every rank has.
type Program struct {
	Name       string
	Ranks      int
	Iterations int // back to back; 1 if 0
	Groups     []Group
	Tensors    []Tensor // further ones follow from the ops that write them
	Ops        []Op
	// Gradient appends the backward pass: see GradientName.
	Gradient bool
	// Order is the order of forward and backward passes of microbatches. Stages are the names of
	// the groups that a pipeline goes through, which others than AsWritten need.
	Order  Order
	Stages []string
	notes  []Note // of its backward pass
	// pending has, by stream, the ops that waits at the end of an iteration are for.
	pending map[string][]string
	// folding, unless nil, says that each rank stands for others.
	folding *folding
}

// A Group is teams that do a call concurrently, each by itself.
type Group struct {
	Name  string
	Teams [][]int
}

// Memory is the kind of memory that stores a tensor.
type Memory uint8

// The kinds of memory.
const (
	Private    Memory = iota // of its rank alone
	Registered               // known to the network
	Symmetric                // others may read and write it one-sided
)

var memoryNames = [...]string{"private", "registered", "symmetric"}

// ParseMemory reads a name.
func ParseMemory(name string) (Memory, error) {
	if i := slices.Index(memoryNames[:], name); i >= 0 {
		return Memory(i), nil
	}
	return 0, fmt.Errorf("memory %q: private, registered or symmetric is expected", name)
}

// String returns the name.
func (m Memory) String() string { return memoryNames[m] }

// A Tensor exists on every rank.
type Tensor struct {
	Name   string
	Type   dtype.Type
	Shape  collective.Shape
	Memory Memory
	Keep   bool // a result even if an op reads it
	// rows, unless nil, is the length of its first axis on each rank; Shape has the largest. Calls
	// with splits give results such lengths, and kernels pass them on.
	rows []int64
	// NoGradient stops gradients: none is computed for it, or through it.
	NoGradient bool
}

// An Op is a collective or a kernel.
type Op struct {
	Name string
	// Call is a collective as collective.ParseCommunication reads it, without type, team and shape,
	// which follow from the tensor and the group. Kernel is an operation by name, with its axis or
	// time: "matmul", "scaled_matmul", "add", "cast", "sum axis=0", "mean axis=0", "move axis=1",
	// "attention heads=8 causal", "opaque 150 us".
	Call, Kernel string
	In           []string
	Out          string     // the tensor that it writes; an opaque kernel may have none
	Outs         []string   // of a call of several tensors, in place of Out: one for each of In
	Type         dtype.Type // of a kernel's result; 0 means its first operand's
	// Shape of an opaque kernel's result; nil means that of Out as it is declared.
	Shape     collective.Shape
	Group     string // a call's teams, or a kernel's ranks; empty is all ranks
	Stream    string // empty is "compute" for a kernel, "comm" for a call
	Algorithm string // of a call
	Async     bool   // of a call: only readers of its result wait for it
	// After lists earlier ops that must have ended on a rank before it begins there, besides those
	// whose tensors it uses.
	After []string
	// Wait lists earlier ops, in place of a call or a kernel: those behind it on its stream wait.
	Wait       []string
	Backward   string // of an opaque kernel: its backward pass, "opaque 300 us"
	Microbatch int    // that it belongs to, from 0

	origin int    // 1 + the number of the op that it was generated for; 0: it is in the program
	phase  phase  // of a program with its backward pass
	list   string // the call of several tensors that it was made from
	// like, of an op that writes a gradient, is the tensor that it belongs to: it has as many rows
	// on every rank.
	like *Tensor
}

// An Error is an error in an op or a tensor.
type Error struct {
	Op     int    // −1: none
	Tensor int    // −1: none
	Key    string // of the op or tensor, as in a scenario
	Text   string
}

// Error formats the error in one line.
func (e *Error) Error() string { return e.Text }
