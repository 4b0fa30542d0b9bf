package goal_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/goal"
	"collsim/formats/internal/foreign"
	"collsim/internal/samples"
	"collsim/proof"
	"collsim/schedule"
)

// sample is a case of the samples' index.
type sample struct {
	file, pattern, verdict       string
	ranks, msgs, most            int
	stuck, unmatched, least, all int
}

// sampleOf is a case of the index with its numbers read.
func sampleOf(t *testing.T, c map[string]string) sample {
	t.Helper()
	s := sample{file: c["file"], pattern: c["pattern"], verdict: c["verdict"]}
	require.Contains(t, []string{"OK", "FAIL"}, s.verdict, s.file)
	for key, n := range map[string]*int{"ranks": &s.ranks, "msgs": &s.msgs,
		"max_bytes_sent": &s.most, "stuck_ops": &s.stuck, "unmatched_msgs": &s.unmatched,
		"reach_min": &s.least, "reach_max": &s.all} {
		_, err := fmt.Sscan(c[key], n)
		require.NoError(t, err, "%s: %s", s.file, key)
	}
	return s
}

// kinds are what the generators' patterns are to be. Bisections only let pairs of ranks exchange:
// they are no collective, and are held to come to their end.
var kinds = map[string]collective.Kind{
	"allreduce_recdoub": collective.AllReduce, "allreduce_ring": collective.AllReduce,
	"chained_dissem":  collective.AllReduce,
	"binarytreebcast": collective.Broadcast, "binomialtreebcast": collective.Broadcast,
	"pipelinedring": collective.Broadcast, "pipelinedringdep": collective.Broadcast,
	"bcast_binomialtree": collective.Broadcast, "bcast_linear": collective.Broadcast,
	"binomialtreereduce": collective.Reduce, "reduce_binomialtree": collective.Reduce,
	"reduce_linear": collective.Reduce,
	"gather":        collective.Gather,
	"scatter":       collective.Scatter, "outcast": collective.Scatter,
	"scatter_linear": collective.Scatter, "scatter_binomialtree": collective.Scatter,
	"dissemination": collective.Barrier, "nwaydissemination": collective.Barrier,
	"linbarrier": collective.Barrier, "doublering": collective.AllGather,
	"linear_alltoall": collective.AllToAll, "alltoall_linear": collective.AllToAll,
	"linear_alltoallv": collective.AllToAllV, "alltoallv_linear": collective.AllToAllV,
	"random_bisect": 0, "random_bisect_fd_sym": 0,
}

// TestSamples: every file gets the verdict of its index, and what happens in it is what the index
// counted.
func TestSamples(t *testing.T) {
	samples.Each(t, "goal", func(t *testing.T, set samples.Set) {
		require.Len(t, set.Cases, samples.Of(set, 30, 54))
		for _, c := range set.Cases {
			t.Run(c["file"], func(t *testing.T) { testSample(t, set, sampleOf(t, c)) })
		}
	})
}

func testSample(t *testing.T, set samples.Set, s sample) {
	kind, known := kinds[s.pattern]
	require.True(t, known, s.pattern)
	in, err := os.Open(set.Path(s.file))
	require.NoError(t, err)
	defer in.Close()
	f, err := goal.Read(in, foreign.Options{File: s.file, As: kind})
	require.NoError(t, err)
	violations := f.Found
	_, more := proof.Verify(f.Schedule, proof.Options{Iterations: 1, Causal: f.Causal})
	violations = append(violations, more...)
	if s.verdict == "OK" {
		require.Empty(t, violations)
	} else {
		require.NotEmpty(t, violations)
	}
	w := watch(t, f)
	require.Equal(t, s.ranks, f.Schedule.Spec.Ranks)
	require.Equal(t, s.msgs, w.sends, "messages")
	require.Equal(t, s.most, w.most, "bytes that a rank sends")
	require.Equal(t, s.stuck, w.stuck, "operations that never happen")
	require.Equal(t, s.unmatched, w.lost, "messages sent and never received")
	require.Equal(t, []int{s.least, s.all}, []int{w.leastReach, w.mostReach}, "reach")
}

// watched is what happens in a file, as far as it gets.
type watched struct {
	sends, most, stuck, lost int
	leastReach, mostReach    int
}

// watch carries the schedule out and sees which operations of the file happen, and whose start each
// rank has heard of. It knows the operations from where they stand in the file.
func watch(t *testing.T, f *foreign.File) (w watched) {
	t.Helper()
	type place struct{ rank, lane, step int32 }
	n := f.Schedule.Spec.Ranks
	bytes := make([]int, n)
	heard := make([]map[int32]map[int32]bool, n) // rank, lane: ranks
	for i := range heard {
		heard[i] = map[int32]map[int32]bool{}
	}
	sent := map[int32]map[int32]bool{}
	posts := map[place]map[int32]bool{}
	posted := map[place]int32{}
	happened := map[int]bool{}
	lost := map[place]bool{}
	for _, v := range f.Found {
		lost[place{int32(v.Rank), int32(v.Lane), int32(v.Step)}] = v.Kind == schedule.Unmatched
	}
	join := func(to, from map[int32]bool) map[int32]bool {
		both := map[int32]bool{}
		for _, set := range []map[int32]bool{to, from} {
			for r := range set {
				both[r] = true
			}
		}
		return both
	}
	_, err := schedule.Execute(f.Schedule, schedule.Limits{}, schedule.Hooks{
		Step: func(v *schedule.Visit) error {
			known := join(heard[v.Rank][v.Lane], map[int32]bool{v.Rank: true})
			for _, handle := range v.In {
				if handle >= 0 {
					known = join(known, sent[handle])
				}
			}
			for _, e := range v.Step.Await {
				known = join(known, posts[place{v.Rank, e.Lane, e.Value}])
			}
			for _, handle := range v.Out {
				sent[handle] = known
			}
			if v.Step.Post {
				lane := place{v.Rank, v.Lane, 0}
				posted[lane]++
				posts[place{v.Rank, v.Lane, posted[lane]}] = known
			}
			heard[v.Rank][v.Lane] = known
			at := f.Where(int(v.Rank), int(v.Lane), int(v.Number))
			require.Positive(t, at.Line)
			happened[at.Line] = true
			if size, isSend := strings.CutPrefix(at.Text, "send "); isSend {
				size, _, _ = strings.Cut(size, "b")
				k, err := strconv.Atoi(size)
				require.NoError(t, err)
				w.sends++
				bytes[v.Rank] += k
				if lost[place{v.Rank, v.Lane, v.Number}] {
					w.lost++
				}
			}
			return nil
		}})
	for rank := range n {
		p := f.Schedule.Program(rank)
		all := map[int32]bool{int32(rank): true}
		for lane := range p.Lanes() {
			number := 0
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				if !happened[f.Where(rank, lane, number).Line] {
					w.stuck++
				}
				number++
			}
			all = join(all, heard[rank][int32(lane)])
		}
		w.most = max(w.most, bytes[rank])
		w.mostReach = max(w.mostReach, len(all))
		if rank == 0 || len(all) < w.leastReach {
			w.leastReach = len(all)
		}
	}
	if w.stuck == 0 {
		require.NoError(t, err)
	}
	return w
}
