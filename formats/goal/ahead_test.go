package goal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"collsim/formats/internal/opgraph"
)

// TestAhead: texts with and without mistakes, in small windows and pieces, read ahead by several,
// give the ranks and the errors of whoever reads line after line.
func TestAhead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(1, 1))
	good, ahead := 0, 0
	for range 3000 {
		text := someText(rng)
		want := reader{file: "x", rank: -1}
		wrong := want.lines([]byte(text))
		if wrong == nil {
			wrong = want.complete()
		}
		runtime.GOMAXPROCS([]int{1, 2, 8}[rng.IntN(3)])
		got := reader{file: "x", rank: -1, window: 400 + rng.IntN(800), piece: 150 + rng.IntN(150)}
		err := got.read(iotest.HalfReader(strings.NewReader(text)))
		require.Equal(t, wrong, err, text)
		ahead += got.taken
		if wrong == nil {
			require.Equal(t, fmt.Sprint(want.ranks), fmt.Sprint(got.ranks), text)
			good++
		}
	}
	require.Greater(t, good, 300)
	require.Greater(t, ahead, 1000)
}

// someText is a GOAL file, often with something wrong in it.
func someText(rng *rand.Rand) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	ranks := 1 + rng.IntN(12)
	add("num_ranks %d", ranks)
	for rank := range ranks {
		add("rank %d {", rank)
		for op := range rng.IntN(6) {
			add("l%d: send %db to %d tag %d", op, rng.IntN(100), rng.IntN(ranks), rng.IntN(3))
			if op > 0 && rng.IntN(2) == 0 {
				add("l%d requires l%d", op, rng.IntN(op))
			}
		}
		add("}")
	}
	for rng.IntN(3) > 0 {
		at := rng.IntN(len(lines))
		switch rng.IntN(11) {
		case 0:
			lines[at] = "" // a brace, or what others require
		case 1:
			lines[at] = lines[rng.IntN(len(lines))] // a rank twice, perhaps
		case 2:
			other := rng.IntN(len(lines))
			lines[at], lines[other] = lines[other], lines[at]
		case 3:
			lines[at] += " /* over\nrank 0 {\nlines */"
		case 4:
			lines[at] += " /* without end"
		case 5:
			lines[at] = "// " + lines[at]
		case 6:
			lines[at] += " ?"
		case 7:
			lines[at] = "/* " + lines[at] + " */"
		case 8:
			lines[at] = "rank of nothing"
		case 9:
			lines[at] = "*/ " + lines[at]
		case 10:
			for i := at; i < len(lines); i++ {
				if strings.HasPrefix(lines[i], "rank") {
					lines[i] = fmt.Sprintf("rank %d {", rng.IntN(ranks))
					break
				}
			}
		}
	}
	end := []string{"", "\n"}[rng.IntN(2)]
	text := []byte(strings.Join(lines, []string{"\n", "\r\n", "\n\n"}[rng.IntN(3)]) + end)
	others := []string{"", "\n", "\r", "\x00", "/*", "*/", "//", "{", "}", "\nrank", "9"}
	for rng.IntN(3) == 0 { // a few bytes are others
		at, by := rng.IntN(len(text)), rng.IntN(len(others))
		text = slices.Replace(text, at, min(at+rng.IntN(3), len(text)), []byte(others[by])...)
	}
	return string(text)
}

// TestFarLine: what goes wrong far behind is told with its line, and so is an end that is broken.
func TestFarLine(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprint(&b, "num_ranks 200\n")
	for rank := range 200 {
		fmt.Fprintf(&b, "rank %d {\n%s}\n", rank, strings.Repeat("calc 1 // as long as it takes\n", 300))
	}
	text := b.String()
	require.Greater(t, len(text), 4<<18)
	read := func(text string) ([]opgraph.Rank, error) {
		r := reader{file: "x", rank: -1, window: 1 << 18, piece: 1 << 14}
		err := r.read(strings.NewReader(text))
		return r.ranks, err
	}
	ranks, err := read(text)
	require.NoError(t, err)
	require.Len(t, ranks, 200)
	for rank := range ranks {
		require.Len(t, ranks[rank].Ops, 300)
		require.EqualValues(t, 2+302*rank+299+1, ranks[rank].Ops[299].Line)
	}
	_, err = read(text + "rank 7 {\n}\n")
	require.EqualError(t, err, "x:60402: rank 7 has two blocks")
	_, err = read(text + "calk 7\n" + text)
	require.EqualError(t, err, `x:60402: "calk" stands in no rank: rank is expected`)
}
