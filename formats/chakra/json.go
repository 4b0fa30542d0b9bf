package chakra

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/formats/internal/strictjson"
)

// The JSON form of Chakra's feeder: one object with the nodes in "workload_graph".

type jsonNode struct {
	ID         *uint64  `json:"Id"`
	Name       string   `json:"Name"`
	Type       uint64   `json:"NodeType"`
	Ctrl       []uint64 `json:"ctrlDeps"`
	Data       []uint64 `json:"data_deps"`
	Runtime    uint64   `json:"runtime"`
	CPU        *bool    `json:"is_cpu_op"`
	NumOps     uint64   `json:"num_ops"`
	TensorSize uint64   `json:"tensor_size"`
	CommType   *int64   `json:"comm_type"`
	Priority   int64    `json:"comm_priority"`
	CommSize   *int64   `json:"comm_size"`
	CommSrc    *int64   `json:"comm_src"`
	CommDst    *int64   `json:"comm_dst"`
	CommTag    *int64   `json:"comm_tag"`
	Group      string   `json:"pg_name"`
}

// node converts the node to that of the protobuf form.
func (j *jsonNode) node() (node, error) {
	n := node{kind: nodeType(j.Type), data: j.Data, ctrl: j.Ctrl, micros: j.Runtime,
		cpu: j.CPU == nil || *j.CPU, group: j.Group,
		counted: j.NumOps != 0}
	n.setName(j.Name)
	if j.ID == nil {
		return n, errors.New("a node without Id")
	}
	n.id = *j.ID
	for i, x := range []*int64{j.CommType, j.CommSize, j.CommSrc, j.CommDst, j.CommTag} {
		if x != nil {
			n.attrs[i], n.given[i] = *x, true
		}
	}
	return n, n.check()
}

// readJSON reads JSON: the form of Chakra's feeder, node by node, or a trace of Kineto. Keys say
// which of them it is, wherever they stand: tools put their own before them.
func (r *reader) readJSON(in *bufio.Reader) error {
	r.lines = &strictjson.Lines{R: in}
	r.json = json.NewDecoder(r.lines)
	d := r.json
	open, err := d.Token()
	if err != nil {
		return r.fail("%v", plain(err))
	}
	if open == json.Delim('[') {
		r.form = "kineto"
		return r.readBare(d)
	}
	found, unknown := false, ""
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return r.fail("%v", plain(err))
		}
		if isKineto(key) && !found {
			r.form = "kineto"
			return r.readKineto(d, key)
		}
		switch key {
		case "workload_graph":
			found = true
			err = r.jsonNodes(d)
		case "schema", "nodes":
			return r.fail("key %q: this is an execution trace of PyTorch; chakra_trace_link and "+
				"chakra_converter make a Chakra trace of it", key)
		default:
			if key != "workload_name" && key != "ngpus" && key != "soc" && unknown == "" {
				unknown = fmt.Sprint(key)
			}
			var about json.RawMessage
			err = d.Decode(&about)
		}
		if err != nil {
			return r.fail("%v: %v", key, plain(err))
		}
	}
	switch {
	case unknown != "" && found:
		return r.fail("key %q: workload_graph, workload_name, ngpus or soc is expected", unknown)
	case !found:
		return r.fail(foreign.Unknown + ": its outermost keys have no traceEvents, as PyTorch's " +
			"profiler writes them, and no workload_graph, as Chakra's feeder")
	}
	return r.end(d)
}

// errCut reports JSON that ends too soon.
var errCut = errors.New("the file ends in the middle of a value")

// plain replaces an error of the decoder by plain words.
func plain(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case errors.As(err, &syntax), !strings.HasPrefix(err.Error(), "json: "):
		return err
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// line returns the line where JSON ends early, or where an invalid value begins; 0 for other
// errors.
func (r *reader) line(err error) int {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errCut):
		return r.lines.Last()
	case errors.As(err, &syntax):
		return r.lines.At(r.json.InputOffset())
	}
	return 0
}

// end reads the closing brace, and checks that nothing follows.
func (r *reader) end(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return r.fail("%v", plain(err))
	}
	return r.behind(d, "brace")
}

// behind checks that nothing follows the closing brace, or bracket.
func (r *reader) behind(d *json.Decoder, closing string) error {
	if _, err := d.Token(); err == nil {
		return r.fail("more behind the closing %s", closing)
	} else if !errors.Is(err, io.EOF) {
		return r.fail("behind the closing %s: %v", closing, err)
	}
	return nil
}

// jsonNodes reads the array of nodes.
func (r *reader) jsonNodes(d *json.Decoder) error {
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('[') {
		return errors.New("an array is expected")
	}
	d.DisallowUnknownFields()
	for d.More() {
		var j jsonNode
		if err := d.Decode(&j); err != nil {
			return plain(err)
		}
		n, err := j.node()
		if err != nil {
			return fmt.Errorf("%v: %w", &n, err)
		}
		if err := r.take(n); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
