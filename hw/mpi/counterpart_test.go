package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/hw"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestCounterparts tells which algorithm of the library is which of ours, and why, or that none is;
// and where the library's bits are those of our own schedule.
func TestCounterparts(t *testing.T) {
	const file = "testdata/counterparts.txt"
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		var ranks int
		var count int64
		d.ScanArgs(t, "ranks", &ranks)
		d.ScanArgs(t, "count", &count)
		why := map[string]string{}
		for _, c := range counterparts() {
			why[c.kind.String()+c.name] = c.why
		}
		var b strings.Builder
		kind, err := collective.ParseKind(d.Cmd)
		require.NoError(t, err)
		for _, a := range algos.ForKind(kind) {
			spec := specsOf(kind, ranks)
			if !kind.Splits() && kind != collective.Barrier {
				spec.Count = count
			}
			s, err := a.Build(spec, algos.Options{})
			require.NoError(t, err)
			c, err := Counterpart(s)
			if err != nil {
				fmt.Fprintf(&b, "%s: %v\n", a.Name, err)
				continue
			}
			like, err := openmpi.Build(c, spec)
			require.NoError(t, err)
			same := "the same bits"
			in := sensitive(&spec, 3)
			if n := differing(t, oracle(t, s, in), oracle(t, like, in)); n > 0 {
				same = "other bits"
			}
			fmt.Fprintf(&b, "%s: %v: %s: %s\n", a.Name, c, same, why[kind.String()+a.Name])
		}
		return b.String()
	})
	for _, c := range counterparts() {
		_, err := algos.Find(c.kind, c.name)
		require.NoError(t, err)
	}
}

// TestNoCounterpart: what is asked for besides an algorithm may be what the library has not.
func TestNoCounterpart(t *testing.T) {
	build := func(kind collective.Kind, name string, ranks int, o algos.Options) *schedule.Schedule {
		a, err := algos.Find(kind, name)
		require.NoError(t, err)
		s, err := a.Build(specsOf(kind, ranks), o)
		require.NoError(t, err)
		return s
	}
	segment := func(size string) algos.Options {
		return algos.Options{Params: []algos.Param{{Name: "segment", Value: size}}}
	}
	order := func(library string) algos.Options {
		return algos.Options{Params: []algos.Param{{Name: "order", Value: library}}}
	}
	s := build(collective.Broadcast, "binomial", 4, algos.Options{})
	s.Name = "openmpi:knomial(segment=64)" // the library's own
	own, err := Counterpart(s)
	require.NoError(t, err)
	require.Equal(t, openmpi.Choice{Function: "bcast", Algorithm: "knomial", Segment: 64}, own)
	for size, want := range map[string]int64{"4 B": 4, "40 B": 40, "116 B": 0, "1 KiB": 0} {
		c, err := Counterpart(build(collective.Broadcast, "chain", 4, segment(size)))
		require.NoError(t, err)
		require.Equal(t, openmpi.Choice{Function: "bcast", Algorithm: "pipeline", Segment: want}, c)
	}
	for _, test := range []struct {
		s    *schedule.Schedule
		want string
	}{
		{build(collective.AllReduce, "ring", 4, algos.Options{Channels: 2}),
			"Open MPI has no all_reduce ring (in 2 channels); it has binomial, rabenseifner, " +
				"recursive-doubling, ring"},
		{build(collective.AllReduce, "ring", 4, algos.Options{Slices: 3}),
			"Open MPI has no all_reduce ring (in 3 slices); it has binomial, rabenseifner, " +
				"recursive-doubling, ring"},
		{build(collective.AllReduce, "ring", 4, order("nccl")),
			"Open MPI has no all_reduce ring (in another library's order: only in openmpi's); " +
				"it has binomial, rabenseifner, recursive-doubling, ring"},
		{build(collective.AllReduce, "ring", 4, order("gloo")),
			"Open MPI has no all_reduce ring (in another library's order: only in openmpi's); " +
				"it has binomial, rabenseifner, recursive-doubling, ring"},
		{build(collective.Reduce, "flat", 4, algos.Options{}),
			"Open MPI has no reduce flat; it has binomial, chain, linear"},
		{build(collective.AllGather, "recursive-doubling", 6, algos.Options{}),
			"Open MPI has no all_gather recursive-doubling (on 6 ranks: only on powers of two); " +
				"it has bruck, recursive-doubling, ring"},
		{build(collective.SendRecv, "direct", 2, algos.Options{}),
			"Open MPI has no send_recv direct; it has none of that kind"},
	} {
		_, err := Counterpart(test.s)
		require.EqualError(t, err, test.want)
		none := &NoCounterpart{}
		d := New(Config{Launcher: "nothing"}).Library()
		in := sensitive(&test.s.Spec, 1)
		_, err = d.Run(context.Background(), &hw.Job{Schedule: test.s, Inputs: in})
		require.ErrorAs(t, err, &none)
		require.Equal(t, test.s.Name, none.Algorithm)
	}
	d := New(Config{Launcher: "nothing"}).Library()
	_, err = d.Run(context.Background(), &hw.Job{})
	require.EqualError(t, err, "no schedule")
	half := build(collective.Broadcast, "flat", 2, algos.Options{})
	both, err := schedule.Compose("flat", 4, nil, []schedule.Part{{Ranks: []int{0, 1}, Schedule: half},
		{Ranks: []int{2, 3}, Schedule: half}})
	require.NoError(t, err)
	in := [][]byte{{}, make([]byte, 29*4), {}, make([]byte, 29*4)}
	_, err = d.Run(context.Background(), &hw.Job{Schedule: both, Inputs: in})
	require.EqualError(t, err, "flat: several teams: the library is asked for one collective "+
		"at a time")
}

// testOwn: the library is asked for its own algorithms by the names of package openmpi, and for its
// own choice. Its bits are those of the schedule. In the short tier every third one is called, and
// the others are those of that name.
func testOwn(t *testing.T, d *Executor) {
	library := d.Library()
	for i, a := range openmpi.Table() {
		spec := specsOf(a.Kinds[0], 5)
		s, err := a.Build(spec, algos.Options{})
		var unfit *algos.Unfit
		if errors.As(err, &unfit) { // two_proc
			spec = specsOf(a.Kinds[0], 2)
			s, err = a.Build(spec, algos.Options{})
		}
		require.NoError(t, err, a.Name)
		if !tier.Long && i%3 != 0 {
			c, err := Counterpart(s)
			require.NoError(t, err)
			same, err := openmpi.Build(c, spec)
			require.NoError(t, err)
			same.Name = s.Name
			require.Equal(t, s.String(), same.String())
			continue
		}
		in := sensitive(&spec, 5)
		r, err := library.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in})
		require.NoError(t, err, "%s %v", a.Name, spec.Kind)
		require.Zero(t, differing(t, oracle(t, s, in), r.Outputs), "%s %v", a.Name, spec.Kind)
	}
}

// testLibrary: of every algorithm that both have, the library's bits are those of the schedule that
// it says it has executed, which is proven and computes what the job does. In the short tier each
// meets one number of ranks.
func testLibrary(t *testing.T, d *Executor) {
	library := d.Library()
	for k, c := range counterparts() {
		a, err := algos.Find(c.kind, c.name)
		require.NoError(t, err)
		options := algos.Options{}
		if c.where == segments {
			options.Params = []algos.Param{{Name: "segment", Value: "36 B"}}
		}
		for n := range mostRanks - 1 {
			ranks := 2 + (k+n)%(mostRanks-1)
			spec := specsOf(c.kind, ranks)
			s, err := a.Build(spec, options)
			require.NoError(t, err)
			if c.unlike(s) != "" {
				continue
			}
			in := sensitive(&spec, uint64(ranks))
			r, err := library.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in,
				Env: hw.Env{Slots: 3, Trace: true, Repetitions: 2}})
			require.NoError(t, err, "%s %v, %d ranks", c.name, c.kind, ranks)
			require.Equal(t, spec, r.Executed.Spec)
			require.Zero(t, differing(t, oracle(t, r.Executed, in), r.Outputs), "%s %v, %d ranks", c.name,
				c.kind, ranks)
			require.Nil(t, r.Trace)
			require.Len(t, r.Repetitions, 2)
			if !tier.Long {
				break
			}
		}
	}
}
