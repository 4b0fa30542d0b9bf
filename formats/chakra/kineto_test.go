package chakra_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/chakra"
	"collsim/internal/tier"
	"collsim/unit"
)

// did is a kernel of a random trace, and waits one of its waits, by what the host did in order.
type did struct {
	name             string
	stream, call     int
	start, end       int // us
	sync             string
	waitOn, waitCall int
}

// randomTrace has kernels on streams, in order on each, and waits between them if told.
func randomTrace(r *rand.Rand, told bool) (all []did) {
	free := make([]int, 1+r.IntN(4)) // when streams are
	for call := 1; call <= 30; call++ {
		s := r.IntN(len(free))
		switch kind := r.IntN(3); {
		case told && kind == 0: // for what another was given up to a call before
			d := did{sync: "Stream Wait Event", stream: s, call: call, waitOn: r.IntN(len(free)),
				waitCall: 1 + r.IntN(call)}
			if r.IntN(4) == 0 {
				d.sync = []string{"Event Sync", "Stream Sync", "Context Sync"}[r.IntN(3)]
			}
			all = append(all, d)
			free[s] = slices.Max(free) // so that nothing waits for what begins later
			if d.sync != "Stream Wait Event" {
				for i := range free {
					free[i] = free[s]
				}
			}
		default:
			start := free[s] + r.IntN(3)
			free[s] = start + 1 + r.IntN(5)
			all = append(all, did{name: fmt.Sprintf("k%d", call), stream: s, call: call, start: start,
				end: free[s]})
		}
	}
	return all
}

// asJSON is the trace as Kineto writes it, in any order.
func asJSON(r *rand.Rand, all []did) string {
	var events []any
	for _, i := range r.Perm(len(all)) {
		d := all[i]
		args := map[string]any{"stream": d.stream, "correlation": d.call}
		e := map[string]any{"ph": "X", "cat": "kernel", "name": d.name, "ts": d.start,
			"dur": d.end - d.start, "args": args}
		if d.sync != "" {
			e["cat"], e["name"], args["cuda_sync_kind"] = "cuda_sync", d.sync, d.sync
			args["wait_on_stream"], args["wait_on_cuda_event_record_corr_id"] = d.waitOn, d.waitCall
		}
		events = append(events, e)
	}
	text, _ := json.Marshal(map[string]any{"schemaVersion": 1, "traceEvents": events})
	return string(text)
}

// orders says whether b waits for a by itself, by the words of the documents alone.
func orders(all []did, told bool, a, b did) bool {
	if a.stream == b.stream {
		return a.start < b.start
	}
	if !told {
		return a.end <= b.start
	}
	return slices.ContainsFunc(all, func(w did) bool {
		switch w.sync {
		case "Stream Wait Event":
			return a.stream == w.waitOn && a.call < w.waitCall && b.stream == w.stream && b.call > w.call
		case "Event Sync":
			return a.stream == w.waitOn && a.call < w.waitCall && b.call > w.call
		case "Stream Sync":
			return a.stream == w.stream && a.call < w.call && b.call > w.call
		case "Context Sync":
			return a.call < w.call && b.call > w.call
		}
		return false
	})
}

// closure says who comes before whom, at first hand or by others.
func closure(n int, direct func(a, b int) bool) [][]bool {
	before := make([][]bool, n)
	for a := range before {
		before[a] = make([]bool, n)
		for b := range before[a] {
			before[a][b] = a != b && direct(a, b)
		}
	}
	for c := range n {
		for a := range n {
			for b := range n {
				before[a][b] = before[a][b] || before[a][c] && before[c][b]
			}
		}
	}
	return before
}

// TestKinetoOrder: the order of a rank's kernels is that of a second reading of the same trace,
// which looks at all pairs; no kernel is lost, and what became one op are kernels behind each other
// on a stream.
func TestKinetoOrder(t *testing.T) {
	n := uint64(80)
	if tier.Long {
		n = 5000
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 1))
		told := seed%2 == 0
		all := randomTrace(r, told)
		text := asJSON(r, all)
		kernels := slices.DeleteFunc(slices.Clone(all), func(d did) bool { return d.sync != "" })
		told = len(kernels) < len(all)
		w, err := chakra.ReadWorkload("t", []chakra.Input{{Name: "t.0.json",
			Reader: strings.NewReader(text)}}, &chakra.Reading{})
		require.NoError(t, err, text)
		pairs := func(a, b int) bool { return orders(all, told, kernels[a], kernels[b]) }
		want := closure(len(kernels), pairs)
		got := closure(len(w.Ops), func(a, b int) bool { return slices.Contains(w.Ops[b].After, a) })
		of := map[int]int{} // the op of each kernel
		for op, o := range w.Ops {
			first, more, _ := strings.Cut(o.Name, " and ")
			at := slices.IndexFunc(kernels, func(d did) bool { return d.name == first })
			left, _ := strconv.Atoi(strings.TrimSuffix(more, " more"))
			total := unit.Time(0)
			for i := at; left >= 0; i++ {
				if kernels[i].stream == kernels[at].stream {
					require.NotContains(t, of, i)
					of[i] = op
					total += unit.Time(kernels[i].end-kernels[i].start) * unit.Microsecond
					left--
				}
			}
			require.Equal(t, o.Time, total)
			require.Equal(t, fmt.Sprintf("stream %d", kernels[at].stream), o.Stream)
		}
		require.Len(t, of, len(kernels))
		for a := range kernels {
			for b := range kernels {
				if of[a] != of[b] {
					require.Equal(t, want[a][b], got[of[a]][of[b]], "seed %d: %s before %s\n%s", seed,
						kernels[a].name, kernels[b].name, text)
				}
			}
		}
	}
}
