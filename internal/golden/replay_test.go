package golden

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/algos/openmpi"
	"collsim/dtype"
)

// difference is what is known to differ, and why.
type difference struct {
	library, algorithms string // algorithms separated by blanks; "" is all
	of                  dtype.Type
	why                 string
}

// differences are all there are; the first that applies is reported. Each must be found.
func differences() []difference {
	return []difference{
		{"mpich", "", dtype.BFloat16, "bfloat16 is rounded to nearest, ties away from zero"},
		{"oneccl", "", dtype.BFloat16, "bfloat16 is cut off"},
		{"impi", "Reduce-+-Scatterv", 0, "its reduce is another: 0+((1+4)+(2+3)) on 5 ranks"},
	}
}

// has reports whether a list that is separated by blanks has a word.
func has(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// name is a library without its version.
func (r *recording) name() string { return r.library[:strings.LastIndex(r.library, "-")] }

// why is the reason for which a recording may differ; "" if there is none.
func (r *recording) why() string {
	for _, d := range differences() {
		if d.library == r.name() && (d.algorithms == "" || has(d.algorithms, r.algorithm)) &&
			(d.of == 0 || d.of == r.spec.Type) {
			return d.why
		}
	}
	return ""
}

// summation returns our summation of a recording.
func (r *recording) summation(t *testing.T) summation {
	for _, row := range table() {
		if has(row.libraries, r.name()) && has(row.functions, r.function) &&
			has(row.algorithms, r.algorithm) {
			return row.by
		}
	}
	if c := r.choice(t); r.name() == "openmpi" {
		return like(c)
	}
	require.Fail(t, "no row", "%s: %s %s", r.library, r.function, r.algorithm)
	return summation{}
}

// choice is Open MPI's algorithm as algos/openmpi names it.
func (r *recording) choice(t *testing.T) openmpi.Choice {
	c := openmpi.Choice{Function: strings.Replace(r.function, "all_", "all", 1),
		Algorithm: r.algorithm}
	switch r.algorithm {
	case "segmented_ring", "chain", "pipeline", "binary", "binomial":
		c.Segment = 64
	case "nonoverlapping", "non-overlapping":
		c.Inner = "binomial"
	case "basic_linear":
		if r.function == "reduce_scatter_block" {
			c.Inner = "binomial"
		}
	}
	return c
}

// execute returns the text of the output of a summation.
func (p summation) execute(t *testing.T, r *recording) string {
	spec := r.spec
	widened := p.wide && spec.Type == dtype.BFloat16
	if widened {
		spec.Type = dtype.Float32
	}
	s, err := p.build(spec)
	require.NoError(t, err, "%s %s %s: %s", r.library, r.function, r.algorithm, p.name)
	if widened {
		return hexOf(outputInFloat32(t, s))
	}
	return hexOf(output(t, s))
}

// TestReplay: what a library gave is, bit by bit, what the schedule that stands for its algorithm
// gives, or differs for a known reason. The summary is rewritten by -rewrite.
func TestReplay(t *testing.T) {
	seen := replays{map[string]string{}, map[string]bool{}}
	found := map[string]string{} // the summaries
	for _, library := range libraries(t) {
		t.Run(library, func(t *testing.T) { found[library] = seen.replay(t, library) })
	}
	for _, d := range differences() {
		require.True(t, seen.differ[d.why], "nothing of %s differs any more: %s", d.library, d.why)
	}
	var names []string
	datadriven.RunTest(t, "testdata/summary.txt", func(_ *testing.T, d *datadriven.TestData) string {
		names = append(names, d.Cmd)
		return found[d.Cmd]
	})
	require.Equal(t, libraries(t), names)
}

// replays holds the outputs so far, by summation and collective, since libraries share them; and
// why some recordings differ.
type replays struct {
	executed map[string]string
	differ   map[string]bool
}

// replay is the summary of a library: a line for each function and algorithm.
func (seen *replays) replay(t *testing.T, library string) string {
	all := recorded(t, library)
	slices.SortStableFunc(all, func(a, b recording) int {
		return cmp.Or(strings.Compare(a.function, b.function),
			strings.Compare(a.algorithm, b.algorithm))
	})
	var text strings.Builder
	for len(all) > 0 {
		same := 1
		for same < len(all) && all[same].algorithm == all[0].algorithm &&
			all[same].function == all[0].function {
			same++
		}
		text.WriteString(seen.summary(t, all[:same]))
		all = all[same:]
	}
	return text.String()
}

// summary is a line on the recordings of an algorithm, which it compares.
func (seen *replays) summary(t *testing.T, all []recording) string {
	by, equal := all[0].summation(t), 0
	var reasons []string
	for i := range all {
		r := &all[i]
		key := fmt.Sprintf("%s %+v", by.name, r.spec)
		got, ok := seen.executed[key]
		if !ok {
			got = by.execute(t, r)
			seen.executed[key] = got
		}
		if got == r.value {
			equal++
			continue
		}
		why := r.why()
		if why == "" {
			t.Errorf("%s: %s %s, %+v: by %s it is %s, of the library %s", r.library, r.function,
				r.algorithm, r.spec, by.name, got, r.value)
		}
		seen.differ[why] = true
		reasons = append(reasons, why)
	}
	line := fmt.Sprintf("%s %s: %s: %d", all[0].function, all[0].algorithm, by.name, equal)
	for len(reasons) > 0 {
		n := len(reasons)
		why := reasons[0]
		reasons = slices.DeleteFunc(reasons, func(other string) bool { return other == why })
		line += fmt.Sprintf("; %d differ: %s", n-len(reasons), why)
	}
	return line + "\n"
}

// TestLike: what algos/openmpi writes down of Open MPI's algorithms gives the bits of both
// versions, of blocks of one size.
func TestLike(t *testing.T) {
	for _, library := range libraries(t) {
		for _, r := range recorded(t, library) {
			if r.name() == "openmpi" && r.function != "reduce_scatterv" && r.spec.Count <= 67 {
				require.Equal(t, r.value, like(r.choice(t)).execute(t, &r), "%+v", r)
			}
		}
	}
}
