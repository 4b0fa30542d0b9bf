package golden

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// recording is the output of one call of a library.
type recording struct {
	library   string // with its version: the name of its file
	function  string // as record/mpi.c names it
	algorithm string // as the library names it
	spec      collective.Spec
	value     string // of the output: see hexOf
}

// hexOf formats an output: in hex if it is short, else as its SHA-256.
func hexOf(output []byte) string {
	if len(output) <= 32 {
		return hex.EncodeToString(output)
	}
	sum := sha256.Sum256(output)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// libraries are those that have been recorded.
func libraries(t *testing.T) (names []string) {
	files, err := filepath.Glob("testdata/recorded/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".txt"))
	}
	return names
}

// recorded reads what has been recorded of a library.
func recorded(t *testing.T, library string) (all []recording) {
	file, err := os.Open("testdata/recorded/" + library + ".txt")
	require.NoError(t, err)
	defer file.Close()
	lines, algorithm := bufio.NewScanner(file), ""
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case words[0] == "#":
		case words[0] == "algorithm":
			algorithm = words[1]
		default:
			r, err := recordingOf(words)
			require.NoError(t, err, "%s: %s", library, lines.Text())
			r.library, r.algorithm = library, algorithm
			all = append(all, r)
		}
	}
	require.NoError(t, lines.Err())
	return all
}

// recordingOf reads function, ranks, count, root, type, operator, value. An uneven reduce_scatter
// may have no output at all.
func recordingOf(words []string) (r recording, err error) {
	if len(words) == 6 {
		words = append(words, "")
	}
	if len(words) != 7 {
		return r, fmt.Errorf("7 words are expected")
	}
	var numbers [3]int
	for i := range numbers {
		if numbers[i], err = strconv.Atoi(words[1+i]); err != nil {
			return r, err
		}
	}
	r.function, r.value = words[0], words[6]
	s := &r.spec
	s.Ranks, s.Count, s.Root = numbers[0], int64(numbers[1]), numbers[2]
	if s.Kind, err = collective.ParseKind(strings.TrimSuffix(r.function, "_block")); err != nil {
		return r, err
	}
	if s.Type, err = dtype.Parse(words[4]); err != nil {
		return r, err
	}
	if s.Kind == collective.ReduceScatterV {
		s.Splits = [][]int64{nil}
		for rank := range s.Ranks {
			s.Splits[0] = append(s.Splits[0], split(rank, numbers[1]))
		}
		s.Count = 0
	}
	s.Op, _, err = collective.ParseOp(words[5])
	return r, err
}

// split is what record/mpi.c gives a rank of an uneven reduce_scatter.
func split(rank, count int) int64 { return int64((rank*5 + count) % (count/2 + 3)) }

// vector is the elements that each rank brings.
func vector(s *collective.Spec) int64 {
	switch s.Kind {
	case collective.ReduceScatter:
		return s.Count * int64(s.Ranks)
	case collective.ReduceScatterV:
		n := int64(0)
		for _, part := range s.Splits[0] {
			n += part
		}
		return n
	}
	return s.Count
}

// TestSums: what has been recorded is what was committed; nobody has edited it, and no file is
// missing or more.
func TestSums(t *testing.T) {
	list, err := os.ReadFile("testdata/recorded/SHA256SUMS")
	require.NoError(t, err)
	var names []string
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		require.Len(t, words, 2, line)
		data, err := os.ReadFile("testdata/recorded/" + words[1])
		require.NoError(t, err)
		sum := sha256.Sum256(data)
		require.Equal(t, words[0], hex.EncodeToString(sum[:]), words[1])
		names = append(names, strings.TrimSuffix(words[1], ".txt"))
	}
	slices.Sort(names)
	require.Equal(t, libraries(t), names)
}
