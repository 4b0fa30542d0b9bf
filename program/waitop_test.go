package program_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/program"
	"collsim/unit"
)

// TestWaits: behind a wait a stream begins when the call has ended, another one does not, and the
// next iteration does. On two ranks the call takes 6 µs beside opaque kernels of 1.
func TestWaits(t *testing.T) {
	sum := program.Op{Name: "sum", Call: "all_reduce", In: []string{"x"}, Out: "y", Async: true}
	work := func(name, stream string) program.Op {
		return program.Op{Name: name, Kernel: "opaque 1 us", Stream: stream}
	}
	wait := func(stream string) program.Op {
		return program.Op{Name: "wait", Wait: []string{"sum"}, Stream: stream}
	}
	for name, c := range map[string]struct {
		ops  []program.Op
		want unit.Time // µs
	}{
		"without":           {[]program.Op{sum, work("a", ""), work("b", "")}, 6},
		"before":            {[]program.Op{sum, wait(""), work("a", ""), work("b", "")}, 8},
		"between":           {[]program.Op{sum, work("a", ""), wait(""), work("b", "")}, 7},
		"on another stream": {[]program.Op{sum, wait("s"), work("a", ""), work("b", "s")}, 7},
		"at the end":        {[]program.Op{sum, work("a", ""), wait("")}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			_, took := onTwo(t, program.Lowering{}, vectors("x"), c.ops...)
			require.Equal(t, c.want*unit.Microsecond, took)
		})
	}
}

// TestWaitOfTheIterationBefore: a wait at the end holds up the next iteration: its kernel of 1 µs,
// and the sum of 6 µs behind that.
func TestWaitOfTheIterationBefore(t *testing.T) {
	ops := []program.Op{{Name: "a", Kernel: "opaque 1 us"}, {Name: "sums", Call: "all_reduce",
		In: []string{"x"}, Outs: []string{"y"}, Async: true, After: []string{"a"}}}
	for want, ops := range map[unit.Time][]program.Op{1 + 6 + 6: ops,
		1 + 6 + 1 + 6: append(ops[:2:2], program.Op{Name: "wait", Wait: []string{"sums"}})} {
		p := &program.Program{Name: "two", Ranks: 2, Iterations: 2, Tensors: vectors("x"), Ops: ops}
		require.Equal(t, want*unit.Microsecond, timeOnTwo(t, p, program.Lowering{}))
	}
}

// TestWaitErrors: what a wait is for, and that nothing else is said of it.
func TestWaitErrors(t *testing.T) {
	sum := program.Op{Name: "sum", Call: "all_reduce", In: []string{"x"}, Out: "y", Async: true}
	for want, wait := range map[string]program.Op{
		`wait: w: "sums" is no op before it`: {Name: "w", Wait: []string{"sums"}},
		`wait: w: "w" is no op before it`:    {Name: "w", Wait: []string{"w"}},
		"kernel: w: a wait is an op of its own, of ops and a stream: no kernel is expected": {Name: "w",
			Wait: []string{"sum"}, Kernel: "opaque 1 us"},
		"group: w: a wait is an op of its own, of ops and a stream: no group is expected": {Name: "w",
			Wait: []string{"sum"}, Group: "all"},
	} {
		p := &program.Program{Name: "p", Ranks: 2, Tensors: vectors("x"), Ops: []program.Op{sum, wait}}
		var wrong *program.Error
		require.ErrorAs(t, p.Validate(), &wrong)
		key, text, _ := strings.Cut(want, ": ")
		require.Equal(t, program.Error{Op: 1, Tensor: -1, Key: key, Text: text}, *wrong)
	}
}
