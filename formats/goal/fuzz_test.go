package goal_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/goal"
	"collsim/formats/internal/foreign"
	"collsim/proof"
)

// FuzzRead: whatever is read is refused with an error of the right type, or is a schedule that can
// be judged; and if that comes to its end, it can be written and read back.
func FuzzRead(f *testing.F) {
	scripts, err := filepath.Glob("testdata/scripts/*.txt")
	require.NoError(f, err)
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		for _, block := range strings.Split(string(text), "\nread")[1:] {
			input, _, _ := strings.Cut(block, "\n----")
			_, input, _ = strings.Cut(input, "\n")
			f.Add([]byte(input))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := goal.Read(bytes.NewReader(text), foreign.Options{File: "x",
			As: collective.AllReduce})
		if err != nil {
			var e *foreign.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Text)
			return
		}
		s := file.Schedule
		steps := 0
		for rank := range s.Spec.Ranks {
			p := s.Program(rank)
			for lane := range p.Lanes() {
				for c := p.Walk(lane); !c.Done(); c.Next(1) {
					steps++
				}
			}
		}
		if steps >= 2000 || s.Spec.Ranks > 500 {
			return
		}
		for _, rendezvous := range []bool{false, true} {
			proof.Verify(s, proof.Options{Causal: file.Causal, Iterations: 1,
				Rendezvous: rendezvous})
		}
		if _, wrong := proof.Verify(s, proof.Options{}); len(wrong) > 0 {
			return
		}
		var written bytes.Buffer
		if goal.Write(&written, s) == nil {
			back, err := goal.Read(&written, foreign.Options{})
			require.NoError(t, err)
			require.Empty(t, back.Found)
			_, wrong := proof.Verify(back.Schedule, proof.Options{})
			require.Empty(t, wrong)
		}
	})
}

// failing is a reader that breaks.
type failing struct{ text io.Reader }

var errBroken = errors.New("broken")

func (f failing) Read(b []byte) (int, error) {
	n, err := f.text.Read(b)
	if errors.Is(err, io.EOF) {
		err = errBroken
	}
	return n, err
}

// TestReadBroken: an input that cannot be read, and a line without end, are errors with a place.
func TestReadBroken(t *testing.T) {
	_, err := goal.Read(failing{strings.NewReader("num_ranks 1\n")}, foreign.Options{File: "x"})
	require.EqualError(t, err, "x:1: broken")
	_, err = goal.Read(failing{strings.NewReader("num_ranks 1\n?")}, foreign.Options{File: "x"})
	require.EqualError(t, err, "x:2: broken")
	cut := io.MultiReader(strings.NewReader("num_ranks 1\nrank 0 {\n}\n"),
		iotest.ErrReader(io.ErrUnexpectedEOF)) // as of a file that is zipped
	_, err = goal.Read(cut, foreign.Options{File: "x"})
	require.EqualError(t, err, "x:3: unexpected EOF")
	long := "num_ranks 1\n//" + strings.Repeat("-", 1<<17)
	_, err = goal.Read(strings.NewReader(long), foreign.Options{File: "x"})
	require.ErrorContains(t, err, "x:2: a line of more than 65536 bytes")
}

// TestReadOptions: what a file without data cannot honour is refused, not ignored.
func TestReadOptions(t *testing.T) {
	const text = "num_ranks 1\nrank 0 {\n}\n"
	for want, o := range map[string]foreign.Options{
		"x: a size cannot be chosen":          {Bytes: 8},
		"the file says how many bytes":        {Count: 8},
		"in place or not cannot be chosen":    {Place: foreign.InPlace},
		"protocol \"LL\" cannot be chosen":    {Protocol: "LL"},
		"strict nop concerns MSCCL++":         {StrictNop: true},
		"root -1: reduce has no such root":    {Root: -1, As: collective.Reduce},
		"root 1: all_reduce has no such root": {Root: 1, As: collective.AllReduce},
		"say which kind of collective":        {Root: 1},
		"root 1: there are 1 ranks":           {Root: 1, As: collective.Reduce},
	} {
		o.File = "x"
		_, err := goal.Read(strings.NewReader(text), o)
		require.ErrorContains(t, err, want)
	}
	f, err := goal.Read(strings.NewReader(text), foreign.Options{File: "x"})
	require.NoError(t, err)
	require.Nil(t, f.Causal)
	require.Equal(t, "goal", f.Format)
	require.Equal(t, "the sizes in the file", f.Sizes)
	require.Zero(t, f.Where(0, 0, 0).Line)
}
