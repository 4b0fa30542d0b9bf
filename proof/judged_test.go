package proof

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
)

// barrier is the lines of a barrier of all ranks in a lane, on connections of their own.
func barrier(ranks, rank, tag int) (text string) {
	for other := range ranks {
		if other != rank {
			text += fmt.Sprintf("    signal to %d:%d\n", other, tag)
		}
	}
	for other := range ranks {
		if other != rank {
			text += fmt.Sprintf("    wait from %d:%d\n", other, tag)
		}
	}
	return text
}

// gathering is the text of an all-gather and matmul.
func gathering(rng *rand.Rand) string {
	n, m, k, c := 2+rng.IntN(3), 1+rng.IntN(2), 1+rng.IntN(2), 1+rng.IntN(2)
	types := []string{"float32*float32->float32", "float32*float32->bfloat16"}[rng.IntN(2)]
	_, out, _ := strings.Cut(types, "->")
	text := fmt.Sprintf("collective custom float32\nranks %d\n"+
		"tensor a given float32 %dx%d symmetric\n"+
		"tensor b given float32 %[3]dx%d\ntensor ws inner float32 %[2]dx%[3]d symmetric\n"+
		"tensor all result float32 %[5]dx%[3]d\ncut all block even %[1]d\n"+
		"tensor c result %[6]s %[5]dx%[4]d\ncut c block even %[1]d\n"+
		"define all = all_gather count=%[7]d of a\n"+
		"define c = (matmul m=%[5]d k=%[3]d n=%[4]d %[8]s) of all, b\n",
		n, m, k, c, n*m, out, m*k, types)
	for rank := range n {
		op := fmt.Sprintf("matmul m=%d k=%d n=%d %s", m, k, c, types)
		text += fmt.Sprintf("rank %d\n  lane 0\n    compute (%s) a, b into c[%[1]d]\n", rank, op)
		for i := 1; i < n; i++ {
			text += fmt.Sprintf("    compute (%s) all[%d], b into c[%[2]d] after 1#%d\n", op, (rank+i)%n, i)
		}
		text += fmt.Sprintf("  lane 1\n    copy a into ws\n    copy a into all[%d]\n%s", rank,
			barrier(n, rank, 1))
		for i := 1; i < n; i++ {
			text += fmt.Sprintf("    copy get %d ws into all[%[1]d] post\n", (rank+i)%n)
		}
		text += barrier(n, rank, 2)
	}
	return text
}

// scattering is the text of a matmul and reduce-scatter, in two buffers on two lanes.
func scattering(rng *rand.Rand) string {
	n, op := 2+rng.IntN(3), []string{"sum", "avg"}[rng.IntN(2)]
	kernel := map[string]string{"sum": "sum", "avg": "mean"}[op]
	text := fmt.Sprintf("collective custom float32 sum\nranks %d\ntensor a given float32 %[1]dx2\n"+
		"cut a block even %[1]d\ntensor b given float32 2x2\ntensor ws inner float32 2x2 symmetric\n"+
		"cut ws block even 2\ntensor parts inner float32 %[1]dx2\ncut parts block even %[1]d\n"+
		"tensor whole defined float32 %[1]dx2\ntensor c result float32 1x2\n"+
		"define whole = (matmul m=%[1]d k=2 n=2 float32*float32->float32) of a, b\n"+
		"define c = reduce_scatter %s count=2 of whole\n", n, op)
	for rank := range n {
		var lanes [2]string
		for i := 1; i < n; i++ {
			lanes[i%2] += fmt.Sprintf("    compute (matmul m=1 k=2 n=2 float32*float32->float32) a[%d], b "+
				"into ws[%d]\n%s    copy get %d ws[%[2]d] into parts[%[4]d] post\n%[5]s", (rank+i)%n, i%2,
				barrier(n, rank, 2*i), (rank+n-i)%n, barrier(n, rank, 2*i+1))
		}
		after := ""
		if n/2 > 0 {
			after = fmt.Sprintf(" after 1#%d", n/2)
		}
		lanes[0] += fmt.Sprintf("    compute (matmul m=1 k=2 n=2 float32*float32->float32) a[%d], b "+
			"into parts[%[1]d]\n    compute (%s %dx1x2 axis=0 float32->float32) parts[0 x%[3]d] "+
			"into c%s\n", rank, kernel, n, after)
		text += fmt.Sprintf("rank %d\n  lane 0\n%s  lane 1\n%s", rank, lanes[0], lanes[1])
	}
	return text
}

// composing is the text of parts on three streams, in an order that need not be enough.
func composing(rng *rand.Rand) string {
	text := "ranks 3\ntensor x given float32 6\ntensor y inner float32 6\ntensor z inner float32 6\n" +
		"tensor w result float32 6\n"
	bodies := []string{`  collective all_reduce float32 sum
  ranks 3
  count 2
  group 3
  rank *
    lane 0
      send in to 1
      send in to 2
      recvReduceCopy from 1, from 2, in into out
`, `  collective all_gather float32
  ranks 3
  count 2
  group 3
  cut out block even 3 by rank
  rank *
    lane 0
      copySend in into out[0] to 1
      recvCopySend from 2 into out[2] to 1
      recv from 2 into out[1]
`, `  collective custom float32
  ranks 3
  group 3
  tensor p given float32 3
  tensor q result float32 3
  define q = (add 3 float32+float32->float32) of p, p
  rank *
    lane 0
      compute (add 3 float32+float32->float32) p, p into q
`}
	names, first, written := []string{"x", "y", "z", "w"}, []int{-1, -1, -1}, []string{"x"}
	for i := range 3 + rng.IntN(4) {
		in, out := written[rng.IntN(len(written))], names[1+rng.IntN(3)]
		kind := rng.IntN(3)
		text += fmt.Sprintf("part stream %d", rng.IntN(3))
		if rng.IntN(2) == 0 {
			text += " launch(sms)"
		}
		if i > 0 && rng.IntN(4) > 0 {
			text += fmt.Sprintf(" after %d", i-1)
		}
		from, off := rng.IntN(2)*rng.IntN(3), []int{rng.IntN(4), 0, rng.IntN(4)}[kind]
		if kind == 1 {
			written = append(written, out)
		}
		text += " " + []string{"in", "in", "p"}[kind] + "=" + in + "@" + fmt.Sprint(from) + " " +
			[]string{"out", "out", "q"}[kind] + "=" + out + "@" + fmt.Sprint(off)
		if first[kind] >= 0 {
			text += fmt.Sprintf(" as %d\n", first[kind])
			continue
		}
		first[kind] = i
		text += "\n" + bodies[kind]
	}
	return text
}

var (
	anIndex = regexp.MustCompile(`\[\d\]`)
	anOwner = regexp.MustCompile(`get \d`)
	anEvent = regexp.MustCompile(` after \d#?\d?`)
)

// mutated is the text with a line of its programs damaged.
func mutated(rng *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	var steps []int
	for i, line := range lines {
		if strings.HasPrefix(line, "    ") {
			steps = append(steps, i)
		}
	}
	at := steps[rng.IntN(len(steps))]
	replace := func(what *regexp.Regexp, by string) {
		lines[at] = what.ReplaceAllStringFunc(lines[at], func(string) string { return by })
	}
	switch rng.IntN(9) {
	case 7, 8: // what is computed or copied
		for !anIndex.MatchString(lines[at]) {
			at = steps[rng.IntN(len(steps))]
		}
		replace(anIndex, fmt.Sprintf("[%d]", rng.IntN(3)))
	case 0:
		lines = slices.Delete(lines, at, at+1)
	case 1:
		if strings.HasPrefix(lines[at+1], "    ") {
			lines[at], lines[at+1] = lines[at+1], lines[at]
		}
	case 2:
		replace(anIndex, fmt.Sprintf("[%d]", rng.IntN(3)))
	case 3:
		replace(anOwner, fmt.Sprintf("get %d", rng.IntN(3)))
	case 4:
		replace(anEvent, "")
	case 5: // a whole barrier
		tag := fmt.Sprintf(":%d", 1+rng.IntN(7))
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(line, tag) })
	case 6:
		lines[at] = strings.NewReplacer("ws", "a", "all[", "c[", "parts[", "a[").Replace(lines[at])
	}
	return strings.Join(lines, "\n")
}

// TestProgramsJudged: the proof and the naive judge agree on programs, right and damaged.
func TestProgramsJudged(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	seen := map[string]int{}
	makers := []func(*rand.Rand) string{gathering, scattering, composing}
	for tries := 0; seen["all"] < tier.Of(220, 3000); tries++ {
		text := makers[tries%3](rng)
		if tries%3 < 2 {
			for range rng.IntN(3) {
				text = mutated(rng, text)
			}
		}
		s, err := schedule.Parse(text)
		if err != nil {
			continue
		}
		calls := 1 + rng.IntN(2)
		p, found := Verify(s, Options{Iterations: calls})
		kind := schedule.ViolationKind(0)
		if p == nil {
			kind = worst(found)
		}
		if kind == schedule.Malformed {
			continue
		}
		seen["all"]++
		seen[fmt.Sprint(kind)]++
		judge(t, rng, s, calls, kind, fmt.Sprintf("%s\n%d calls: %v", text, calls, found))
	}
	t.Log(seen)
	for _, kind := range []schedule.ViolationKind{0, schedule.Race, schedule.Missing,
		schedule.Misplaced, schedule.Deadlock} {
		require.Greater(t, seen[fmt.Sprint(kind)], tier.Of(2, 5), "too few cases of %v", kind)
	}
}

// worst is what the naive judge is to see.
func worst(found []*schedule.Violation) schedule.ViolationKind {
	for _, kind := range []schedule.ViolationKind{schedule.Malformed, schedule.Deadlock,
		schedule.Unmatched, schedule.Race} {
		if slices.ContainsFunc(found, func(v *schedule.Violation) bool { return v.Kind == kind }) {
			return kind
		}
	}
	return found[0].Kind
}

func judge(t *testing.T, rng *rand.Rand, s *schedule.Schedule, calls int,
	kind schedule.ViolationKind, about string) {
	n := newNaive(s, calls)
	first := n.run(rng, true)
	switch kind {
	case schedule.Deadlock:
		require.True(t, first.stalled, about)
	case schedule.Unmatched:
		require.True(t, first.left && !first.stalled, about)
	case schedule.Race:
		for i := 0; i < 3000 && !n.flips(); i++ {
			n.run(rng, false)
		}
		require.True(t, n.flips(), about)
	case 0:
		for range 12 {
			r := n.run(rng, false)
			require.Empty(t, r.wrong, about)
		}
		require.False(t, first.stalled || first.left || n.flips(), about)
	default:
		require.NotEmpty(t, first.wrong, about)
	}
}
