package chakra_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/chakra"
	"collsim/internal/tier"
)

// mesh is a random arrangement of ranks; the last axis is the fastest.
type mesh struct{ axes []int }

func (m mesh) ranks() int {
	n := 1
	for _, size := range m.axes {
		n *= size
	}
	return n
}

// along returns the ranks that differ from one in these axes alone, in ascending order.
func (m mesh) along(rank int, axes []int) (group []int) {
	for other := range m.ranks() {
		a, b, same := rank, other, true
		for i := len(m.axes) - 1; i >= 0; i-- {
			same = same && (a%m.axes[i] == b%m.axes[i] || slices.Contains(axes, i))
			a, b = a/m.axes[i], b/m.axes[i]
		}
		if same {
			group = append(group, other)
		}
	}
	return group
}

// todo is one thing that all ranks of a stage do.
type todo struct {
	name   string // of a call, or "compute"
	axes   []int  // of its group
	n      int
	root   int
	offset int // of a message, in its group
}

// randomTodo returns a thing that a rank may do with those along some axes.
func randomTodo(r *rand.Rand, axes []int) todo {
	names := []string{"compute", "compute", "allreduce", "_allgather_base", "_reduce_scatter_base",
		"broadcast", "reduce", "all_to_all", "shift"}
	d := todo{name: names[r.IntN(len(names))], n: 1 + r.IntN(50), root: r.IntN(1 << 10),
		offset: 1 + r.IntN(5)}
	for _, a := range axes {
		if r.IntN(2) == 0 {
			d.axes = append(d.axes, a)
		}
	}
	return d
}

// profileOf writes what a rank does as its profiler would, all on one stream.
func profileOf(m mesh, rank int, list []todo) chakra.Input {
	var events []any
	for i, d := range list {
		group := m.along(rank, d.axes)
		event := func(args map[string]any, more ...any) {
			args["stream"], args["correlation"], args["External id"] = 7, len(events), 1000+len(events)
			events = append(events, map[string]any{"ph": "X", "cat": "kernel", "name": fmt.Sprint("k", i),
				"ts": 10 * len(events), "dur": d.n, "args": args})
			events = append(events, more...)
		}
		call := func(name string, in, out int) {
			text, _ := json.Marshal(group)
			args := map[string]any{"Collective name": name, "In msg nelems": in, "Out msg nelems": out,
				"Group size": len(group), "dtype": "Float", "Process Group Name": fmt.Sprint(d.axes, group[0]),
				"Process Group Ranks": string(text)}
			at := slices.Index(group, rank)
			args["Dst Rank"] = group[(at+d.offset)%len(group)]
			args["Src Rank"] = group[(at+len(group)-d.offset%len(group))%len(group)]
			event(args, map[string]any{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 0,
				"dur": 1, "args": map[string]any{"External id": 1000 + len(events),
					"Rank": d.root % len(group)}})
		}
		p := len(group)
		switch {
		case d.name == "compute":
			event(map[string]any{})
		case p == 1:
		case d.name == "_allgather_base":
			call(d.name, d.n, d.n*p)
		case d.name == "_reduce_scatter_base", d.name == "all_to_all" && d.n%2 == 0:
			call(d.name, d.n*p, d.n*map[bool]int{true: p, false: 1}[d.name == "all_to_all"])
		case d.name == "shift" && d.offset%p != 0:
			call("send", d.n, d.n)
			call("recv", d.n, d.n)
		case d.name != "shift" && d.name != "all_to_all":
			call(d.name, d.n, d.n)
		}
	}
	text, _ := json.Marshal(map[string]any{"traceEvents": events, "distributedInfo": map[string]any{
		"rank": rank, "world_size": m.ranks()}})
	return chakra.Input{Name: fmt.Sprintf("t.%d.json", rank), Reader: strings.NewReader(string(text))}
}

// does lists what each rank of a workload does: calls with their teams, messages with their ends.
func does(w *chakra.Workload) [][]string {
	list := make([][]string, w.Ranks)
	for _, o := range w.Ops {
		for _, team := range o.Teams {
			for at, rank := range team {
				what := fmt.Sprint(strings.Split(o.Name, " ")[0], o.Kind, o.Bytes, o.Root, o.Time, team)
				switch {
				case o.Permute:
					for to, n := range o.Splits[at] {
						if n > 0 {
							list[rank] = append(list[rank], fmt.Sprint("sends ", n, " to ", team[to]))
							list[team[to]] = append(list[team[to]], fmt.Sprint("gets ", n, " of ", rank))
						}
					}
					continue
				case o.Kind == collective.SendRecv && at == 0:
					what = fmt.Sprint("sends ", int64(o.Bytes), " to ", team[1])
				case o.Kind == collective.SendRecv:
					what = fmt.Sprint("gets ", int64(o.Bytes), " of ", team[0])
				case o.Kind == 0:
					what = fmt.Sprint(strings.Split(o.Name, " ")[0], o.Time)
				}
				list[rank] = append(list[rank], what)
			}
		}
	}
	for rank := range list { // messages of one rank may begin in any order
		slices.Sort(list[rank])
	}
	return list
}

// TestAlike holds one rank's trace, taken for all of a random mesh, to the traces of all ranks.
func TestAlike(t *testing.T) {
	n := uint64(300)
	if tier.Long {
		n = 1000
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 31))
		var m mesh
		var axes []int
		for i := range 1 + r.IntN(3) {
			m.axes, axes = append(m.axes, 1+r.IntN(4)), append(axes, i)
		}
		list := []todo{{name: "compute", n: 1}}
		for range r.IntN(8) {
			list = append(list, randomTodo(r, axes))
		}
		var all []chakra.Input
		for rank := range m.ranks() {
			all = append(all, profileOf(m, rank, list))
		}
		want, err := chakra.ReadWorkload("t", all, &chakra.Reading{})
		require.NoError(t, err, seed)
		own := r.IntN(m.ranks())
		got, err := chakra.ReadWorkload("t", []chakra.Input{profileOf(m, own, list)},
			&chakra.Reading{Alike: chakra.AllRanks, Ranks: m.ranks()})
		require.NoError(t, err, seed)
		require.Equal(t, does(want), does(got), "seed %d, rank %d of %v: %+v", seed, own, m.axes, list)
	}
}

// TestStagesAlike holds a trace a stage to the traces of all ranks: stages do different things, and
// send to the next.
func TestStagesAlike(t *testing.T) {
	n := uint64(300)
	if tier.Long {
		n = 1000
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 32))
		m := mesh{[]int{2 + r.IntN(3), 1 + r.IntN(3), 1 + r.IntN(3)}} // stages, and two more axes
		each := m.axes[1] * m.axes[2]
		lists := make([][]todo, m.axes[0])
		for i := range lists {
			lists[i] = []todo{{name: "compute", n: 1 + i}}
			for range r.IntN(5) {
				lists[i] = append(lists[i], randomTodo(r, []int{1, 2}))
			}
		}
		together := randomTodo(r, nil)
		together.axes = [][]int{{0}, {0, 1}, {0, 1, 2}}[r.IntN(3)]
		for together.name == "shift" {
			together = randomTodo(r, []int{0})
			together.axes = []int{0}
		}
		for i := range lists {
			lists[i] = append(lists[i], together)
		}
		var all, few []chakra.Input
		for rank := range m.ranks() {
			all = append(all, profileOf(m, rank, lists[rank/each]))
		}
		for i := range lists {
			few = append(few, profileOf(m, i*each+r.IntN(each), lists[i]))
		}
		want, err := chakra.ReadWorkload("t", all, &chakra.Reading{})
		require.NoError(t, err, seed)
		got, err := chakra.ReadWorkload("t", few, &chakra.Reading{Alike: chakra.Stages, Ranks: m.ranks()})
		require.NoError(t, err, "seed %d of %v: %+v", seed, m.axes, lists)
		require.Equal(t, does(want), does(got), "seed %d of %v: %+v", seed, m.axes, lists)
	}
}

// FuzzAlike: a file that is to stand for many ranks is refused, or is a sound program of all of
// them, alone and as a stage; whatever the trace says of its groups.
func FuzzAlike(f *testing.F) {
	for _, group := range []string{"[0, 1]", "[-1, 0]", "[0, 5]", "[]", "[0, 2]"} {
		for _, name := range []string{"all_to_allv", "allreduce", "send", "recv"} {
			f.Add(fmt.Sprintf(`[{"ph": "X", "cat": "kernel", "name": "n", "ts": 1, "dur": 2, "args": `+
				`{"stream": 7, "correlation": 1, "Collective name": %q, "In msg nelems": 4, `+
				`"Out msg nelems": 4, "In split size": "[1, 3]", "Out split size": "[1, 3]", `+
				`"Group size": 2, "dtype": "Int", "Process Group Name": "0", "Dst Rank": 1, "Src Rank": 1, `+
				`"Process Group Ranks": %q}}]`, name, group))
		}
	}
	f.Add(`{"workload_graph": [` +
		`{"Id": 1, "NodeType": 7, "comm_type": 0, "comm_size": 8, "pg_name": "g"},` +
		`{"Id": 2, "NodeType": 5, "comm_size": 8, "comm_dst": 1, "comm_tag": 0},` +
		`{"Id": 3, "NodeType": 6, "comm_size": 8, "comm_src": 3, "comm_tag": 0}]}`)
	shares := func(ranks int, count int64) ([][]int64, error) {
		row := make([]int64, ranks)
		row[0] = count
		return slices.Repeat([][]int64{row}, ranks), nil
	}
	groups := []chakra.Group{{Name: "g", Teams: [][]int{{0, 1}, {2, 3}}}}
	f.Fuzz(func(t *testing.T, text string) {
		for _, how := range []chakra.Reading{
			{Alike: chakra.AllRanks, Ranks: 4, Shares: shares, Order: "id", Groups: groups},
			{Alike: chakra.Stages, Ranks: 4, Order: "id"},
			{Alike: chakra.Stages, Ranks: 4, Stages: [][]int{{1, 3}, {0, 2}}, Groups: groups},
			{Alike: chakra.Stages, Ranks: 4, Stages: [][]int{{0, 1}, {1, 2, 3}}},
		} {
			files := []chakra.Input{{Name: "t.0.json", Reader: strings.NewReader(text)}}
			if how.Alike == chakra.Stages {
				files = append(files, chakra.Input{Name: "t.1.json", Reader: strings.NewReader(text)})
			}
			if w, err := chakra.ReadWorkload("t", files, &how); err == nil {
				require.Equal(t, 4, w.Ranks)
				sound(t, w)
			}
		}
	})
}
