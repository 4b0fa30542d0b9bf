package chakra_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/chakra"
	"collsim/internal/tier"
)

// call is what a rank's profiler records of one: what the kernel carries, and the Rank of the
// host's record_param_comms, −1 where there is none.
type call struct {
	name           string
	in, out        int64
	inSplit, outOf any
	rank           int
	group          []int
}

// profiled is the file of a rank that makes one call.
func profiled(c call) chakra.Input {
	group, _ := json.Marshal(c.group)
	args := map[string]any{"stream": 20, "correlation": 3, "External id": 7, "Collective name": c.name,
		"In msg nelems": c.in, "Out msg nelems": c.out, "Group size": len(c.group), "dtype": "Half",
		"Process Group Name": "0", "Process Group Ranks": string(group)}
	if c.inSplit != nil {
		in, _ := json.Marshal(c.inSplit)
		out, _ := json.Marshal(c.outOf)
		args["In split size"], args["Out split size"] = string(in), string(out)
	}
	events := []any{map[string]any{"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": 1,
		"dur": 2, "args": args}}
	if c.rank >= 0 {
		events = append(events, map[string]any{"ph": "X", "cat": "cpu_op", "name": "record_param_comms",
			"ts": 0, "dur": 1, "args": map[string]any{"External id": 7, "Rank": c.rank,
				"Concrete Inputs": []string{"", "x"}}})
	}
	text, _ := json.Marshal(map[string]any{"schemaVersion": 1, "traceEvents": events})
	return chakra.Input{Reader: strings.NewReader(string(text))}
}

// only is the op that a call of some ranks is; its record says Half, of 2 bytes.
func only(calls ...call) (*chakra.Work, error) {
	var files []chakra.Input
	for rank, c := range calls {
		f := profiled(c)
		f.Name = fmt.Sprintf("t.%d.json", rank)
		files = append(files, f)
	}
	w, err := chakra.ReadWorkload("t", files, &chakra.Reading{})
	if err != nil {
		return nil, err
	}
	return &w.Ops[0], nil
}

// TestKinetoLists: parts of different lengths are those that the ranks recorded, whatever the order
// of the group and however wide a row is; a part that another rank does not send is told.
func TestKinetoLists(t *testing.T) {
	n := uint64(300)
	if tier.Long {
		n = 20000
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 2))
		p := 2 + r.IntN(5)
		group := r.Perm(p)
		elems, row := make([][]int64, p), int64(1+r.IntN(3)) // from rank to rank
		for i := range elems {
			elems[i] = make([]int64, p)
			for j := range elems[i] {
				elems[i][j] = int64(r.IntN(4)) * row
			}
		}
		calls := make([]call, p)
		name := []string{"all_to_allv", "all_to_all"}[r.IntN(2)]
		wide := row
		if name == "all_to_all" {
			wide = 1
		}
		for i := range calls {
			c := call{name: name, rank: -1, group: group}
			var to, from []int64
			for _, j := range group {
				to, from = append(to, elems[i][j]/wide), append(from, elems[j][i]/wide)
				c.in += elems[i][j]
				c.out += elems[j][i]
			}
			if c.inSplit, c.outOf = to, from; name == "all_to_all" {
				c.out = c.in // as torch records it
			}
			calls[i] = c
		}
		o, err := only(calls...)
		require.NoError(t, err)
		var flat []int64
		for i := range elems {
			for j := range elems[i] {
				flat = append(flat, 2*elems[i][j])
			}
		}
		if slices.Min(flat) == slices.Max(flat) {
			require.Equal(t, collective.AllToAll, o.Kind)
			require.Nil(t, o.Splits)
		} else {
			require.Equal(t, collective.AllToAllV, o.Kind)
			require.Equal(t, flat, slices.Concat(o.Splits...))
		}
		if name == "all_to_all" {
			calls[0].outOf.([]int64)[0]++
			_, err = only(calls...)
			require.ErrorContains(t, err, "t.0.json: event 0 (all_to_all): it expects")
		}
	}
}

// TestKinetoCalls: what the record of a call carries is what is done, and what it lacks is named.
func TestKinetoCalls(t *testing.T) {
	two := func(name string, in, out int64, rank int) []call {
		c := call{name: name, in: in, out: out, rank: rank, group: []int{0, 1}}
		return []call{c, c}
	}
	back := func(calls []call) []call { // of a group whose first is rank 1
		for i := range calls {
			calls[i].group = []int{1, 0}
		}
		return calls
	}
	lists := func(name string, factorIn, factorOut int64, sizes ...int64) (calls []call) {
		for _, n := range sizes {
			calls = append(calls, call{name: name, in: n * factorIn, out: n * factorOut, rank: -1,
				group: []int{0, 1, 2}[:len(sizes)]})
		}
		return calls
	}
	split := func(in, out any, nIn, nOut int64) []call {
		calls := two("all_to_allv", nIn, nOut, -1)
		for i := range calls {
			calls[i].inSplit, calls[i].outOf = in, out
		}
		return calls
	}
	for _, c := range []struct {
		calls []call
		want  string // the call in bytes, or what is wrong
	}{
		{two("reduce", 8, 8, 1), "reduce root 1 of 16 B"},
		{back(two("reduce", 8, 8, 1)), "reduce of 16 B"},
		{two("_reduce_oop", 8, 8, 0), "reduce of 16 B"},
		{two("gather", 8, 16, 1), "gather root 1 of 16 B"},
		{two("scatter", 16, 8, 1), "scatter root 1 of 32 B"},
		{two("broadcast", 8, 8, 1), "broadcast root 1 of 16 B"},
		{back(two("broadcast", 8, 8, 0)), "broadcast root 1 of 16 B"},
		{two("broadcast", 8, 8, -1), "broadcast of 16 B"},
		{lists("all_gather", 1, 3, 4, 4, 4), "all_gather of 8 B"},
		{lists("all_gather", 1, 3, 4, 0, 5), "all_gatherv splits 8,0,10 of 10 B"},
		{lists("reduce_scatter", 3, 1, 4, 4, 4), "reduce_scatter of 24 B"},
		{lists("reduce_scatter", 3, 1, 4, 1, 2), "reduce_scatterv splits 8,2,4 of 14 B"},
		{lists("all_to_all", 1, 1, 4, 4), "all_to_all of 8 B"},
		{split([]int{1, 3}, []int{2, 2}, 8, 8), "t.0.json: event 0 (all_to_allv): it expects 8 bytes " +
			"from rank 0, which sends it 4"},
		{lists("_allgather_base", 1, 2, 4, 5), "t.1.json: event 0 (_allgather_base): asks for " +
			"all_gather of 5 Half as collective 0 of group \"0\", but rank 0 asks for all_gather of 4 Half"},
		{two("reduce", 8, 8, -1), "External id = 7: there is no record_param_comms with it and a Rank, " +
			"which is the root of reduce"},
		{two("gather", 8, 16, 2), "the Rank of its record_param_comms is 2; a place in a group of 2"},
		{append(two("gather", 8, 16, 1)[:1], two("gather", 8, 16, 0)[0]), "t.1.json: event 0 (gather): " +
			"asks for gather of 8 Half, root 0 as collective 0 of group \"0\", but rank 0 asks for gather " +
			"of 8 Half, root 1"},
		{two("scatter", 8, 8, 1), "In msg nelems = 8, Out msg nelems = 8: of scatter on 2 ranks they " +
			"are as 2 to 1"},
		{split("[1, 2, ..., 4]", []int{1, 3}, 4, 4), "In split size = \"\\\"[1, 2, ..., 4]\\\"\": of " +
			"more than 30 the profiler leaves some out"},
		{split([]int{1, 2, 1}, []int{1, 3}, 4, 4), "In split size = [1 2 1], of 3; Group size = 2"},
		{split([]int{1, 3}, []int{-1, 3}, 4, 4), "Out split size = [-1 3]: 0 to "},
		{split([]int{1, 2}, []int{1, 2}, 4, 3), "In split size = [1 2]: 3 rows, of 4 elements"},
		{split([]int{0, 0}, []int{1, 2}, 4, 3), "In split size = [0 0]: 0 rows, of 4 elements"},
		{lists("all_to_all", 1, 1, 3, 3), "no In split size, and 3 elements: among 2 ranks a multiple " +
			"of 2 is expected"},
		{[]call{{name: "reduce", in: 8, out: 8, group: []int{1, 1}}}, "Process Group Ranks = [1 1]: 1 " +
			"is there twice"},
	} {
		o, err := only(c.calls...)
		if err != nil {
			require.ErrorContains(t, err, c.want)
			continue
		}
		text := collective.Communication{Kind: o.Kind, Root: o.Root, Splits: o.Splits}
		require.Equal(t, c.want, fmt.Sprintf("%v of %v", &text, o.Bytes))
	}
	text, err := io.ReadAll(profiled(call{name: "reduce", group: []int{0, 1}}).Reader)
	require.NoError(t, err)
	wrong := strings.Replace(string(text), `"Rank":0`, `"Rank":"0"`, 1)
	_, err = chakra.ReadWorkload("t", []chakra.Input{{Name: "t.0.json",
		Reader: strings.NewReader(wrong)}}, &chakra.Reading{})
	require.EqualError(t, err, `t.0.json: traceEvents: event 1 (record_param_comms): args: "Rank" is `+
		`a string; a whole number is expected`)
}
