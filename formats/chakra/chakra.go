// Package chakra reads Chakra execution traces (MLCommons), the workloads of ASTRA-sim: a file for
// each rank, with computations, messages and collectives as nodes of a graph.
//
//	data_deps are the order: a node is issued when those have ended, and of several that are ready
//	          the one with the lowest id first. ctrl_deps name the caller and order nothing; they
//	          may name nodes outside the file. Chakra's feeder does the same.
//	COMM_SEND, COMM_RECV  are messages: comm_size bytes to comm_dst or from comm_src, matched by
//	          comm_tag. Their comm_type means nothing (one converter writes the node type there).
//	COMM_COLL is a request, not a schedule. Every rank of its group (pg_name; all ranks if it has
//	          none) must make the same ones in the same order, which is checked. How it is done is
//	          not in the file. Here it is a barrier of the group, as any collective may be one.
//	          Without a comm_type it is the call on the CPU that launches one, and takes its
//	          recorded time.
//	others    take duration_micros.
//
// A file is protobuf, messages with their lengths before them (GlobalMetadata, then Nodes),
// possibly gzipped; or the JSON form of Chakra's feeder. Neither carries data, so the verdict is
// causal: see package opgraph, which lowers them.
//
// PyTorch's profiler (Kineto) writes another form, from which Chakra's converter starts and which
// this package reads directly. Its nodes are the GPU's activities, in order on each stream. Between
// streams the order is that of the recorded waits or, where there are none, of times. A kernel of
// NCCL is a request.
//
// S. Sridharan et al., "Chakra: Advancing Performance Benchmarking and Co-design using Standardized
// Execution Traces", arXiv:2305.14516; schema/protobuf/et_def.proto of mlcommons/chakra.
package chakra

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
	"collsim/formats/internal/strictjson"
	"collsim/internal/input"
	"collsim/unit"
)

// Input is the file of one rank.
type Input struct {
	Name   string // for errors
	Reader io.Reader
}

// Sort orders the file names of one trace, such as all_reduce.0.et and all_reduce.1.et (or .json,
// .json.gz), by the rank before the extension. It refuses names of several traces, and ranks that
// are missing or appear twice.
func Sort(names []string) ([]string, error) {
	sorted := make([]string, len(names))
	first := ""
	for i, name := range names {
		base, _, _ := cutLast(strings.TrimSuffix(name, ".gz"))
		prefix, number, ok := cutLast(base)
		rank, err := strconv.Atoi(number)
		switch {
		case !ok || err != nil || rank < 0 || strconv.Itoa(rank) != number:
			return nil, fmt.Errorf("%s: a name such as trace.0.et is expected, with the rank "+
				"before the extension", name)
		case i > 0 && prefix != first:
			return nil, fmt.Errorf("%s does not belong to %s, the trace of %s",
				name, first, names[0])
		case rank >= len(names):
			return nil, fmt.Errorf("%s is one of %d files; the ranks 0…%d are expected",
				name, len(names), len(names)-1)
		case sorted[rank] != "":
			return nil, fmt.Errorf("%s and %s are of the same rank", sorted[rank], name)
		}
		first, sorted[rank] = prefix, name
	}
	return sorted, nil
}

// cutLast splits a name at its last dot.
func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// Read reads a trace from files in the order of their ranks. Errors are *foreign.Error with the
// name of the file; o.File names the trace as a whole. A place in a file is a node, without a line.
func Read(files []Input, o foreign.Options) (*foreign.File, error) {
	if err := opgraph.Refuse(&o); err != nil {
		return nil, err
	}
	t, err := readAll(o.File, files, o.Limit)
	if err != nil {
		return nil, err
	}
	if t.orderBy, err = t.keyOf(o.Order); err != nil {
		return nil, err
	}
	t.collectives()
	g := &opgraph.Graph{Format: t.form, Name: t.name(), Ranks: t.ranks, Where: t.where,
		Simulator: "ASTRA-sim", Defects: t.defects}
	for i := range elementTypes {
		g.Types = append(g.Types, elementTypes[i].name)
	}
	f, err := g.Lower(&o)
	if err != nil {
		return nil, err
	}
	f.Notes = slices.Concat(t.said, t.notes(), f.Notes)
	return f, nil
}

// reader reads the file of a rank.
type reader struct {
	file  string
	nodes []node
	notes []string // notes for the user
	span  string   // the file's duration, if it states one
	form  string   // "chakra" or "kineto"
	about about

	lines *strictjson.Lines // of JSON
	json  *json.Decoder
}

// about holds what a file says of its job.
type about struct {
	rank  int // whose file it is, −1 if it does not say so
	world int // number of ranks, 0 if it does not say so
}

// fail makes an error of the file. Where JSON ends early or is invalid, it has the line.
func (r *reader) fail(format string, args ...any) error {
	e := &foreign.Error{File: r.file, Text: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if err, ok := arg.(error); ok && r.lines != nil {
			e.Line = r.line(err)
		}
	}
	return e
}

// read reads a file in either form.
func (r *reader) read(in io.Reader, limit unit.Bytes) error {
	plain, err := input.Limit{Bytes: limit}.Unpacked(in)
	if err != nil {
		return r.fail("%v", err)
	}
	b := bufio.NewReader(plain)
	if isJSON(b) {
		err = r.readJSON(b)
	} else {
		err = r.readProto(b)
	}
	if long := plain.Long(); long != nil {
		return foreign.Long(r.file, long, err)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(r.nodes, func(a, b node) int {
		if a.id < b.id {
			return -1
		} else if a.id > b.id {
			return 1
		}
		return 0
	})
	for i := 1; i < len(r.nodes); i++ {
		if r.nodes[i].id == r.nodes[i-1].id {
			return r.fail("two nodes have the id %d", r.nodes[i].id)
		}
	}
	return nil
}

// maxNodes is the most nodes of a file.
const maxNodes = 1 << 22

// take adds a node.
func (r *reader) take(n node) error {
	if len(r.nodes) == maxNodes {
		return fmt.Errorf("more than %d nodes", maxNodes)
	}
	r.nodes = append(r.nodes, n)
	return nil
}

// isJSON distinguishes the two forms. JSON begins with a brace or a bracket, which protobuf could
// have as a length, and then a quote or another brace.
func isJSON(b *bufio.Reader) bool {
	head, _ := b.Peek(512)
	text := strings.TrimLeft(string(head), " \t\r\n")
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return false
	}
	text = strings.TrimLeft(text[1:], " \t\r\n")
	return text != "" && strings.Contains(`"}{]`, text[:1])
}
