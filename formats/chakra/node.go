package chakra

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"collsim/collective"
	"collsim/formats/internal/opgraph"
	"collsim/unit"
)

// node is a node of a trace, without attributes that have no effect here.
type node struct {
	id         uint64
	event      int // its number in a Kineto file, from 1; 0 otherwise
	name       string
	kind       nodeType
	data, ctrl []uint64
	start      uint64 // start_time_micros, 0 if the file does not state it
	micros     uint64
	nanos      uint64 // added to micros
	stream     string // of a kernel, where known
	cpu        bool   // is_cpu_op, true if absent
	attrs      [len(attrNames)]int64
	given      [len(attrNames)]bool
	group      string  // pg_name
	members    string  // ranks of the group, where known
	tiling     *tiling // where a file stands for many ranks: its teams, and what each rank gives each
	rows       [][]int64
	element    uint8 // type of its elements, index into elementTypes; 0 if unknown
	root       int64 // index of its root in the group, plus 1; 0 if unknown
	// lists is true where ranks may contribute and receive different lengths. For an all_to_all, to
	// and from are the bytes to and from each rank of the group.
	lists    bool
	to, from []int64
	counted  bool // num_ops states its amount of computation
}

// nodeType is the schema's NodeType.
type nodeType uint64

const (
	compNode nodeType = 4
	commSend nodeType = 5
	commRecv nodeType = 6
	commColl nodeType = 7
	lastType nodeType = 10
)

var typeNames = [...]string{"INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE",
	"COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE", "STORAGE_NODE", "BATCH_NODE",
	"CHECKPOINT_NODE"}

// The attributes that are used, all whole numbers.
const (
	commType = iota
	commSize
	commSrc
	commDst
	commTag
)

var attrNames = [...]string{"comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag"}

// kinds maps the schema's CollectiveCommType; reduce_scatter has two numbers.
var kinds = [...]collective.Kind{collective.AllReduce, collective.Reduce, collective.AllGather,
	collective.Gather, collective.Scatter, collective.Broadcast, collective.AllToAll,
	collective.ReduceScatter, collective.ReduceScatter, collective.Barrier}

// maxName is the most bytes of a node's name.
const maxName = 60

// setName keeps the beginning of a name that is too long.
func (n *node) setName(name string) {
	if len(name) > maxName {
		end := maxName
		for end > 0 && !utf8.RuneStart(name[end]) {
			end--
		}
		name = name[:end] + "…"
	}
	n.name = strings.ToValidUTF8(strings.Clone(name), "\uFFFD")
}

// String names the node in errors.
func (n *node) String() string {
	if n.event > 0 {
		return fmt.Sprintf("event %d (%s)", n.event-1, n.name)
	}
	if n.name == "" {
		return fmt.Sprintf("node %d", n.id)
	}
	return fmt.Sprintf("node %d (%s)", n.id, n.name)
}

// check returns the first error of a node of rank's file.
func (n *node) check() error {
	switch {
	case n.kind == 0 || n.kind > lastType:
		return fmt.Errorf("type %d is none; 1 (%s) to %d (%s) are expected", n.kind, typeNames[1],
			lastType, typeNames[lastType])
	case n.micros > uint64(int64(unit.Forever-1)/int64(unit.Microsecond)):
		return fmt.Errorf("a duration of %d us is too long", n.micros)
	case n.nanos > uint64(int64(unit.Forever-1)/int64(unit.Nanosecond)):
		return fmt.Errorf("a duration of %d ns is too long", n.nanos)
	}
	need := []int{commSize}
	switch n.kind {
	case commSend:
		need = append(need, commDst)
	case commRecv:
		need = append(need, commSrc)
	case commColl:
		if !n.given[commType] {
			return nil
		}
		if t := n.attrs[commType]; t < 0 || int(t) >= len(kinds) {
			return fmt.Errorf("comm_type %d is none; 0 (ALL_REDUCE) to %d (BARRIER) are expected", t,
				len(kinds)-1)
		}
		if kinds[n.attrs[commType]] == collective.Barrier {
			need = nil
		}
	default:
		return nil
	}
	for _, a := range need {
		if !n.given[a] {
			return fmt.Errorf("%s has no %s", typeNames[n.kind], attrNames[a])
		}
	}
	for a, x := range n.attrs {
		most := int64(1<<31 - 1)
		if a == commSize {
			most = collective.MaxElements
		}
		if x < 0 || x > most {
			return fmt.Errorf("%s = %d; 0 to %d are possible", attrNames[a], x, most)
		}
	}
	return nil
}

// time returns the duration in the file.
func (n *node) time() unit.Time {
	return unit.Time(n.micros)*unit.Microsecond + unit.Time(n.nanos)*unit.Nanosecond
}

// op converts the node to an operation of a graph. Collectives are completed later.
func (n *node) op() opgraph.Op {
	o := opgraph.Op{Kind: opgraph.Calc}
	if n.cpu {
		o.CPU = 1
	}
	switch {
	case n.kind == commSend:
		o.Kind, o.Peer = opgraph.Send, int32(n.attrs[commDst])
		o.Amount, o.Tag, o.Type = n.attrs[commSize], n.attrs[commTag], n.element
	case n.kind == commRecv:
		o.Kind, o.Peer = opgraph.Recv, int32(n.attrs[commSrc])
		o.Amount, o.Tag, o.Type = n.attrs[commSize], n.attrs[commTag], n.element
	case n.kind != commColl || !n.given[commType]:
		o.Amount = int64(n.time())
	}
	return o
}

// request describes the requested collective.
func (n *node) request() string {
	kind := kinds[n.attrs[commType]]
	if kind == collective.Barrier {
		return kind.String()
	}
	return fmt.Sprintf("%v of %v", kind, unit.Bytes(n.attrs[commSize])) + n.rootText()
}

func (n *node) rootText() string {
	if n.root == 0 {
		return ""
	}
	return fmt.Sprintf(", root %d", n.root-1)
}

// likeness returns the facts on which all ranks of a group must agree: elements of one type or,
// where the file has no types, bytes.
func (n *node) likeness() string {
	kind, of := kinds[n.attrs[commType]], &elementTypes[n.element]
	switch {
	case kind == collective.Barrier || n.element == 0 && !n.lists:
		return n.request()
	case n.element == 0:
		return fmt.Sprintf("%v of lists", kind)
	case n.lists:
		return fmt.Sprintf("%v of lists of %s", kind, of.name)
	}
	return fmt.Sprintf("%v of %d %s", kind, n.attrs[commSize]/of.bytes, of.name) + n.rootText()
}
