// Package simai reads workloads of SimAI, in the text form of ASTRA-sim's first version: a line a
// layer, with what its forward pass, the gradient of its input and that of its weights compute and
// then communicate.
//
//	HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 32
//	2
//	embedding -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1
//
// The columns are name, dependency, and three times time in ns, kind and bytes; then the time that
// passes behind each of these communications (there it is called update time). Bytes are those of
// the whole buffer, as the size of nccl-tests. A kind without a suffix is of the tensor-parallel
// group in the first two and of the data-parallel group in the third; _EP is the expert-parallel
// group, _DP_EP the ranks with the same experts.
//
// X. Wang et al., "SimAI: Unifying Architecture Design and Performance Tuning for Large-Scale Large
// Language Model Training with Scalability and Precision", NSDI 2025; the columns are those that
// Workload::initialize_workload of aliyun/SimAI reads.
package simai

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/unit"
)

// Workload is a training step of a stage of a pipeline.
type Workload struct {
	TP, EP, PP int // ranks of a tensor-parallel and an expert-parallel group; stages
	GPUs       int // of all stages
	PPBytes    int64
	Layers     []Layer
}

// Layer is a line of the file. Delay passes behind each of its communications.
type Layer struct {
	Name                   string
	Forward, Input, Weight Pass
	Delay                  unit.Time
}

// Pass computes, and then communicates.
type Pass struct {
	Time  unit.Time
	Kind  collective.Kind // 0 for nothing
	Bytes int64           // of the whole buffer
	Group string          // one of Groups
}

// Groups are the names of groups: tensor, data and expert parallel, and ranks with equal experts.
var Groups = [...]string{"tp", "dp", "ep", "dp_ep"}

// IsWorkload reports whether a file begins like one.
func IsWorkload(head []byte) bool {
	return strings.HasPrefix(string(head), "HYBRID_TRANSFORMER")
}

// maxLayers bounds the layers of a file.
const maxLayers = 1 << 20

// Read reads a workload. Errors are *foreign.Error with the line.
func Read(name string, in io.Reader) (*Workload, error) {
	r := reader{name: name, scan: bufio.NewScanner(in)}
	w := &Workload{TP: 1, EP: 1, PP: 1}
	header, ok := r.next()
	if !ok {
		return nil, r.fail("is empty; HYBRID_TRANSFORMER_FWD_IN_BCKWD is expected")
	}
	if err := r.header(w, header); err != nil {
		return nil, err
	}
	count, ok := r.next()
	n, err := strconv.Atoi(strings.Join(count, " "))
	if !ok || err != nil || n < 1 || n > maxLayers {
		return nil, r.fail("%q: the number of layers is expected, 1 to %d", strings.Join(count, " "),
			maxLayers)
	}
	for range n {
		columns, ok := r.next()
		if !ok {
			return nil, r.fail("the file ends behind %d of %d layers", len(w.Layers), n)
		}
		layer, err := r.layer(columns)
		if err != nil {
			return nil, err
		}
		w.Layers = append(w.Layers, layer)
	}
	if more, ok := r.next(); ok {
		return nil, r.fail("%q: more than the %d layers that line 2 announces", more[0], n)
	}
	if err := r.scan.Err(); err != nil {
		return nil, r.fail("%v", err)
	}
	return w, nil
}

// reader reads lines.
type reader struct {
	name string
	scan *bufio.Scanner
	line int
}

// next returns the words of the next line that has some.
func (r *reader) next() (words []string, ok bool) {
	for r.scan.Scan() {
		r.line++
		if words = strings.Fields(r.scan.Text()); len(words) > 0 {
			return words, true
		}
	}
	return nil, false
}

func (r *reader) fail(format string, args ...any) error {
	return &foreign.Error{File: r.name, Line: r.line, Text: fmt.Sprintf(format, args...)}
}

// header reads the first line: how the model is divided.
func (r *reader) header(w *Workload, words []string) error {
	if words[0] != "HYBRID_TRANSFORMER_FWD_IN_BCKWD" && words[0] != "HYBRID_TRANSFORMER" {
		return r.fail("%s: HYBRID_TRANSFORMER_FWD_IN_BCKWD or HYBRID_TRANSFORMER is expected; other "+
			"forms do not say who is in a group", words[0])
	}
	var repeated int // virtual stages and microbatches, whose layers are all there
	into := map[string]*int{"model_parallel_NPU_group": &w.TP, "ep": &w.EP, "pp": &w.PP,
		"vpp": &repeated, "ga": &repeated, "all_gpus": &w.GPUs}
	for i := 1; i+1 < len(words); i += 2 {
		key := strings.TrimSuffix(words[i], ":")
		n, err := strconv.ParseInt(words[i+1], 10, 64)
		switch at, known := into[key]; {
		case err != nil || n < 0 || n > collective.MaxElements:
			return r.fail("%s %s: a whole number is expected", words[i], words[i+1])
		case known && (n < 1 || n > maxLayers):
			return r.fail("%s %d: 1 to %d is expected", words[i], n, maxLayers)
		case known:
			*at = int(n)
		case key == "pp_comm":
			w.PPBytes = n
		case (key == "checkpoints" || key == "checkpoint_initiates") && n > 0:
			return r.fail("%s %d: layers that are computed again in the backward pass are not read; "+
				"write 0, and what they take into the gradient of their input", words[i], n)
		case key != "checkpoints" && key != "checkpoint_initiates":
			return r.fail("%q: model_parallel_NPU_group, ep, pp, vpp, ga, all_gpus, checkpoints, "+
				"checkpoint_initiates or pp_comm is expected", words[i])
		}
	}
	each := w.TP * w.EP * w.PP
	switch {
	case w.GPUs == 0:
		return r.fail("no all_gpus: on how many GPUs it is done is not in the file; add all_gpus: N")
	case w.GPUs%each != 0:
		return r.fail("all_gpus: %d; a multiple of model_parallel_NPU_group × ep × pp = %d is expected",
			w.GPUs, each)
	}
	return nil
}

// columns is the number of columns of a layer.
const columns = 12

// layer reads a line: name, dependency, three passes of three columns, delay.
func (r *reader) layer(words []string) (l Layer, err error) {
	if len(words) != columns {
		return l, r.fail("%d columns; %d are expected: name, dependency, time, kind and bytes of three "+
			"passes, and delay", len(words), columns)
	}
	l.Name = words[0]
	for i, p := range []*Pass{&l.Forward, &l.Input, &l.Weight} {
		usual := Groups[0]
		if i == 2 {
			usual = Groups[1]
		}
		if *p, err = r.pass(words[2+3*i:5+3*i], usual); err != nil {
			return l, err
		}
	}
	l.Delay, err = r.time(words[columns-1])
	return l, err
}

// pass reads a time, a kind and bytes; usual is the group of a kind without a suffix.
func (r *reader) pass(words []string, usual string) (p Pass, err error) {
	if p.Time, err = r.time(words[0]); err != nil {
		return p, err
	}
	kind, suffix, _ := strings.Cut(words[1], "_")
	kinds := map[string]collective.Kind{"NONE": 0, "ALLREDUCE": collective.AllReduce,
		"ALLGATHER": collective.AllGather, "REDUCESCATTER": collective.ReduceScatter,
		"ALLTOALL": collective.AllToAll}
	groups := map[string]string{"": usual, "EP": Groups[2], "DP_EP": Groups[3]}
	is, known := kinds[kind]
	group, grouped := groups[suffix]
	if !known || !grouped {
		return p, r.fail("%q: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL is expected, which "+
			"_EP or _DP_EP may follow", words[1])
	}
	bytes, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || bytes < 0 || bytes > collective.MaxElements {
		return p, r.fail("%q: bytes are expected, 0 to %d", words[2], int64(collective.MaxElements))
	}
	if is != 0 && bytes > 0 {
		p.Kind, p.Bytes, p.Group = is, bytes, group
	}
	return p, nil
}

// time reads whole ns. Those who write such files put 1 where there is nothing, so that 1 is none.
func (r *reader) time(word string) (unit.Time, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	switch {
	case err != nil || n < 0 || n > int64((unit.Forever-1)/unit.Nanosecond):
		return 0, r.fail("%q: a time in whole ns is expected", word)
	case n <= 1:
		return 0, nil
	}
	return unit.Time(n) * unit.Nanosecond, nil
}

// Ranks returns the number of ranks of a stage.
func (w *Workload) Ranks() int { return w.GPUs / w.PP }

// Teams returns the teams of a group. Tensor-parallel ranks are neighbours, experts are divided
// among the data-parallel ranks that follow, as Megatron-LM orders them (tp-ep-dp).
func (w *Workload) Teams(group string) (teams [][]int) {
	n, tp := w.Ranks(), w.TP
	stride, size := 1, tp
	switch group {
	case Groups[1]:
		stride, size = tp, n/tp
	case Groups[2]:
		stride, size = tp, w.EP
	case Groups[3]:
		stride, size = tp*w.EP, n/tp/w.EP
	}
	for first := range n {
		if first/stride%size != 0 {
			continue
		}
		team := make([]int, size)
		for i := range team {
			team[i] = first + i*stride
		}
		teams = append(teams, team)
	}
	return teams
}
