package chakra

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
	"collsim/schedule"
)

// trace converts the files of all ranks to a graph.
type trace struct {
	files   []Input
	nodes   [][]node // by rank, by id
	ranks   []opgraph.Rank
	owner   [][]int32         // by rank: the node of each operation
	deps    []int             // by rank: the number of edges that are data dependencies
	exits   []map[int32]int32 // by rank: the last operation of a collective, by its first
	defects []opgraph.Defect
	callers int      // number of ctrl_deps that name no node
	said    []string // notes of the files
	form    string   // form of the files
	orderBy orderKey // of calls that nothing orders
	about   []about  // by file
	stages  *stages  // where files stand for more ranks than one

	asked    []asked
	askedBy  map[string]int
	barriers int64
}

// asked counts the requests of a rank with the same description.
type asked struct {
	text  string
	count int
}

// add adds the nodes of the next rank as operations, in the order of their ids.
func (t *trace) add(r *reader) error {
	rank := len(t.ranks)
	var g opgraph.Rank
	owner := make([]int32, len(r.nodes))
	for i := range r.nodes {
		n := &r.nodes[i]
		g.Ops = append(g.Ops, n.op())
		owner[i] = int32(i)
		for _, id := range n.data {
			if on, known := r.find(id); known {
				g.Edges = append(g.Edges, opgraph.Edge{Op: int32(i), On: on})
			} else {
				t.defect(rank, i, "its data dependency, node %d, is not in the file", id)
			}
		}
		for _, id := range n.ctrl {
			if _, known := r.find(id); !known {
				t.callers++
			}
		}
		if n.kind == commColl && !n.given[commType] && !n.cpu {
			return r.fail("%v: a collective without comm_type: which one is not in the file; "+
				"chakra_converter writes it, 0 for ALL_REDUCE to %d for BARRIER", n, len(kinds)-1)
		}
		n.data, n.ctrl = nil, nil
	}
	t.ranks, t.nodes, t.owner = append(t.ranks, g), append(t.nodes, r.nodes), append(t.owner, owner)
	t.about = append(t.about, r.about)
	t.deps, t.exits = append(t.deps, len(g.Edges)), append(t.exits, map[int32]int32{})
	return nil
}

// find returns the index of a node by its id.
func (r *reader) find(id uint64) (int32, bool) {
	i, found := slices.BinarySearchFunc(r.nodes, id, func(n node, id uint64) int {
		if n.id < id {
			return -1
		} else if n.id > id {
			return 1
		}
		return 0
	})
	return int32(i), found
}

// maxDefects is the most defects that are reported.
const maxDefects = 1000

func (t *trace) defect(rank, op int, format string, args ...any) {
	if len(t.defects) < maxDefects {
		t.defects = append(t.defects, opgraph.Defect{Rank: rank, Op: op, Kind: schedule.Malformed,
			Text: fmt.Sprintf(format, args...)})
	}
}

// where returns the place of an operation: its node.
func (t *trace) where(rank, op int) foreign.Place {
	n := &t.nodes[rank][t.owner[rank][op]]
	return foreign.Place{Block: -1, Step: -1, Text: fmt.Sprintf("%s: %v", t.files[rank].Name, n)}
}

// name returns the name of the first file without rank and extension.
func (t *trace) name() string {
	if len(t.files) == 0 {
		return "chakra"
	}
	name, _, _ := cutLast(strings.TrimSuffix(path.Base(t.files[0].Name), ".gz"))
	name, _, _ = cutLast(name)
	return name
}

// maxAsked is the most different requests that a note lists.
const maxAsked = 8

// notes lists the requests of the trace, and the parts of it that are ignored.
func (t *trace) notes() (notes []string) {
	text := ""
	for i, a := range t.asked {
		if i == maxAsked {
			text += fmt.Sprintf(", and %d others", len(t.asked)-i)
			break
		}
		if i > 0 {
			text += ", "
		}
		if text += a.text; a.count > 1 {
			text += fmt.Sprintf(" (%d times)", a.count)
		}
	}
	if text != "" {
		notes = append(notes, "asks for "+text+"; how it is done is not in the file: there is nothing "+
			"to prove but that all ranks ask alike, and each takes the time of a barrier of its group")
	}
	if t.callers > 0 {
		notes = append(notes, fmt.Sprintf("%d ctrl_deps name nodes that are not in the file; they say "+
			"who called a node, and order nothing", t.callers))
	}
	return notes
}
