package calibrate

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/measured"
	"collsim/internal/samples"
	"collsim/unit"
)

// usual is the algorithm whose closed form a table of a kind is held against.
func usual(k collective.Kind) string {
	switch k {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter:
		return "ring"
	case collective.AllToAll:
		return "pairwise"
	case collective.SendRecv:
		return "direct"
	}
	return "binomial"
}

// closedForm is the curve of an algorithm by its published cost.
func closedForm(k collective.Kind, algorithm string, ranks int) (Curve, error) {
	a, err := algos.Find(k, algorithm)
	if err != nil {
		return nil, err
	}
	return func(size unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error) {
		spec := collective.Spec{Kind: k, Type: dtype.Uint8, Ranks: ranks, Count: int64(size)}
		if k.Reduces() {
			spec.Op = collective.Sum
		}
		if spec.Bytes() > size { // the whole vector
			spec.Count = max(1, int64(size)/int64(ranks))
		}
		return a.ClosedForm(spec, algos.Options{}, algos.Model{Alpha: alpha, Rate: rate})
	}, nil
}

// sidecar is what stands beside a published table: nranks and time_derived.
func sidecar(t *testing.T, path string) (ranks int, derived bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "nranks = "); ok {
			ranks, err = strconv.Atoi(strings.TrimSpace(value))
			require.NoError(t, err)
		}
		derived = derived || strings.HasPrefix(line, "time_derived = true")
	}
	require.Positive(t, ranks, path)
	return ranks, derived
}

// publishedTables are all tables of a folder that can be fitted, with the files that are none.
func publishedTables(t *testing.T, dir string) (files []string, others []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".csv" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(string(text), "collective,size_bytes,") {
			files = append(files, path)
		} else {
			others = append(others, path)
		}
		return nil
	}))
	return files, others
}

// fitted is one line of the report.
type fitted struct {
	name string
	r    *Ranges
}

// fitPublished holds out a fifth of the sizes, however few they are: one error is worth nothing,
// those of 800 tables are.
func fitPublished(t *testing.T, path string) (all []fitted) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	tables, err := measured.ReadTables(filepath.Base(path), text)
	require.NoError(t, err)
	ranks, derived := sidecar(t, strings.TrimSuffix(path, ".csv")+".toml")
	for i := range tables {
		table := &tables[i]
		algorithm := usual(table.Kind)
		curve, err := closedForm(table.Kind, algorithm, ranks)
		require.NoError(t, err)
		points := PointsOf(table, true, derived)
		if len(points) == 0 {
			points = PointsOf(table, false, derived)
		}
		r, err := FitRanges([]Series{{Points: points, Curve: curve, Message: same}},
			Options{HoldOut: 5})
		require.NoError(t, err, path)
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		if table.Algorithm != "" {
			name += " " + table.Algorithm
		}
		all = append(all, fitted{name, r})
	}
	return all
}

// same takes a call's size for that of its messages.
func same(n unit.Bytes) unit.Bytes { return n }

func TestPublishedTables(t *testing.T) {
	samples.Each(t, "nccl-data", testPublishedTables)
}

func testPublishedTables(t *testing.T, set samples.Set) {
	files, others := publishedTables(t, set.Dir)
	require.NotEmpty(t, others)
	for _, path := range others {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		tables, err := measured.ReadTables(filepath.Base(path), text)
		if err == nil { // what is left out of another kind is noted
			require.NotEmpty(t, tables[0].Notes, path)
		}
	}
	var nccl, mpi []fitted
	for _, path := range files {
		if strings.Contains(path, "mpi-pico") {
			mpi = append(mpi, fitPublished(t, path)...)
		} else {
			nccl = append(nccl, fitPublished(t, path)...)
		}
	}
	for _, group := range []struct {
		name   string
		all    []fitted
		within float64 // most tables' held-out points are, by their median
	}{{"nccl-tests", nccl, 0.03}, {"MPI", mpi, 0.2}} {
		text, medians := report(group.name, group.all)
		t.Log(text)
		require.Less(t, medians.Median, group.within)
	}
}

func report(name string, all []fitted) (string, Quality) {
	var b strings.Builder
	var medians, p90s []float64
	slices.SortStableFunc(all, func(a, b fitted) int {
		return -cmp.Compare(a.r.HeldOut.Median, b.r.HeldOut.Median)
	})
	for _, f := range all {
		fmt.Fprintf(&b, "%-60s %d ranges, %3d+%2d points, fitted %s; held out %s\n", f.name,
			len(f.r.Ranges), f.r.Trained.Points, f.r.HeldOut.Points, f.r.Trained, f.r.HeldOut)
		if f.r.HeldOut.Points > 0 {
			medians, p90s = append(medians, f.r.HeldOut.Median), append(p90s, f.r.HeldOut.P90)
		}
	}
	m, p := quality(medians), quality(p90s)
	return fmt.Sprintf("%s: %d tables; of the held-out medians: %s; of the held-out 90th "+
		"percentiles: %s\n%s", name, len(all), m, p, b.String()), m
}
