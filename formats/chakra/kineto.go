package chakra

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"collsim/collective"
)

// PyTorch's profiler (Kineto) writes one object for a rank, with events in "traceEvents", as
// Chrome's trace viewer reads them. This reader uses the activities of GPUs (cat kernel, gpu_memcpy
// and gpu_memset, with stream and correlation), and waits (cuda_sync). A kernel of NCCL carries the
// arguments of its call: libkineto/src/output_json.cpp, and saveNcclMeta in PyTorch's
// torch/csrc/profiler/util.cpp. Where it does not, the host's event may: see hostcall.go.

// event is an event of a file.
type event struct {
	number int             // in traceEvents, from 0
	Phase  string          `json:"ph"`
	Cat    string          `json:"cat"`
	Name   string          `json:"name"`
	Start  json.RawMessage `json:"ts"`
	Dur    json.RawMessage `json:"dur"`
	Thread json.RawMessage `json:"tid"`
	Args   json.RawMessage `json:"args"`

	start, end int64 // in ns
	args       eventArgs
}

// eventArgs holds the arguments of GPU activities and waits.
type eventArgs struct {
	Stream      *int64 `json:"stream"`
	Correlation *int64 `json:"correlation"`
	Call        int64  `json:"External id"`

	Sync       string `json:"cuda_sync_kind"`
	WaitStream *int64 `json:"wait_on_stream"`
	WaitRecord *int64 `json:"wait_on_cuda_event_record_corr_id"`

	Collective string          `json:"Collective name"`
	In         *int64          `json:"In msg nelems"`
	Out        *int64          `json:"Out msg nelems"`
	Type       string          `json:"dtype"`
	Size       *int64          `json:"Group size"`
	Group      string          `json:"Process Group Name"`
	Ranks      json.RawMessage `json:"Process Group Ranks"`
	InSplit    json.RawMessage `json:"In split size"`
	OutSplit   json.RawMessage `json:"Out split size"`
	Root       *int64          `json:"Rank"` // of the host's event alone: a place in the group
	To         *int64          `json:"Dst Rank"`
	From       *int64          `json:"Src Rank"`
}

// distributed holds a file's description of its process groups.
type distributed struct {
	Rank   *int64 `json:"rank"`
	World  int64  `json:"world_size"`
	Groups []struct {
		Name  string  `json:"pg_name"`
		Ranks []int64 `json:"ranks"`
	} `json:"pg_config"`
}

// isKineto reports whether a key of the outermost object is Kineto's.
func isKineto(key any) bool {
	return key == "schemaVersion" || key == "deviceProperties" || key == "traceEvents" ||
		key == "distributedInfo" || key == "displayTimeUnit" || key == "baseTimeNanoseconds"
}

// readKineto reads the rest of a file, behind the first key that is Kineto's.
func (r *reader) readKineto(d *json.Decoder, key json.Token) error {
	k := newKineto(r)
	for {
		var err error
		switch key {
		case "traceEvents":
			err = k.readEvents(d)
		case "distributedInfo":
			err = d.Decode(&k.about)
		default:
			var other json.RawMessage
			err = d.Decode(&other)
		}
		if err != nil {
			return r.fail("%v: %v", key, plain(err))
		}
		if !d.More() {
			break
		}
		if key, err = d.Token(); err != nil {
			return r.fail("%v", plain(err))
		}
	}
	if err := r.end(d); err != nil {
		return err
	}
	if err := k.take(); err != nil {
		return r.fail("%v", err)
	}
	return nil
}

// readBare reads a file that is the array of events alone, as some tools leave it.
func (r *reader) readBare(d *json.Decoder) error {
	k := newKineto(r)
	if err := k.elements(d); err != nil {
		return r.fail("%v", plain(err))
	}
	if err := r.behind(d, "bracket"); err != nil {
		return err
	}
	if err := k.take(); err != nil {
		return r.fail("%v", err)
	}
	return nil
}

// readEvents reads the array of events.
func (k *kineto) readEvents(d *json.Decoder) error {
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('[') {
		return errors.New("an array is expected")
	}
	return k.elements(d)
}

// elements reads the events of an array up to its end and keeps those that are used.
func (k *kineto) elements(d *json.Decoder) error {
	for number := 0; d.More(); number++ {
		e := &event{number: number}
		if err := d.Decode(e); err != nil {
			return fmt.Errorf("event %d: %w", number, plain(err))
		}
		if e.Phase != "X" {
			continue
		}
		var err error
		switch e.Cat {
		case "kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset": // the last until 2022
			err = k.did(e)
		case "cuda_sync":
			err = k.waited(e)
		case "cuda_runtime", "cuda_driver":
			err = k.launched(e)
		case "cpu_op":
			if e.Name == "record_param_comms" {
				err = k.called(e)
			}
		}
		if err != nil {
			return fmt.Errorf("%v: %w", e, err)
		}
	}
	_, err := d.Token()
	return err
}

// String names an event in errors.
func (e *event) String() string { return fmt.Sprintf("event %d (%s)", e.number, short(e.Name)) }

// did records an activity of a GPU.
func (k *kineto) did(e *event) error {
	if err := e.decode(); err != nil {
		return err
	}
	if err := e.times(); err != nil {
		return err
	}
	if e.args.Stream == nil || e.args.Correlation == nil {
		return errors.New("args have no stream, or no correlation, of what a GPU does")
	}
	if k.events = append(k.events, e); len(k.events) > maxNodes {
		return fmt.Errorf("more than %d events of a GPU", maxNodes)
	}
	return nil
}

// waited records a wait of a stream, or of the host.
func (k *kineto) waited(e *event) error {
	if err := e.decode(); err != nil {
		return err
	}
	if e.args.Correlation == nil {
		return errors.New("args have no correlation")
	}
	k.syncs = append(k.syncs, e)
	return nil
}

// times reads when the event began and ended.
func (e *event) times() error {
	dur := int64(0)
	for _, x := range []struct {
		key  string
		text json.RawMessage
		into *int64
	}{{"ts", e.Start, &e.start}, {"dur", e.Dur, &dur}} {
		var err error
		if *x.into, err = nanos(string(x.text)); err != nil {
			return fmt.Errorf("%s = %s: %w", x.key, text(x.text), err)
		}
	}
	e.end = e.start + dur
	return nil
}

// decode reads args.
func (e *event) decode() error {
	if len(e.Args) == 0 {
		return errors.New("no args")
	}
	return unmarshal(e.Args, &e.args)
}

// unmarshal reads args into a struct.
func unmarshal(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		want := "a whole number"
		if typed.Type.Kind() == reflect.String {
			want = "text"
		}
		return fmt.Errorf("args: %q is a %s; %s is expected", typed.Field, typed.Value, want)
	}
	return err
}

// text formats JSON for an error.
func text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	return string(raw)
}

// nanos parses a time in us with decimals; Kineto writes three.
func nanos(s string) (int64, error) {
	whole, part, _ := strings.Cut(s, ".")
	if len(part) > 3 {
		part = part[:3]
	}
	n, err := strconv.ParseUint(whole+part+"000"[len(part):], 10, 62)
	if err != nil || whole == "" {
		return 0, errors.New("microseconds with decimals are expected")
	}
	return int64(n), nil
}

// maxShort is the most bytes of a kernel's name.
const maxShort = 32

// short strips return type, namespaces and parameters from the name of a kernel.
func short(name string) string {
	name = strings.ReplaceAll(name, "(anonymous namespace)::", "")
	if end := strings.IndexAny(name, "<("); end > 0 {
		name = name[:end]
	}
	if scope := strings.LastIndex(name, "::"); scope >= 0 {
		name = name[scope+2:]
	}
	name = strings.TrimSpace(strings.TrimPrefix(name, "void "))
	if len(name) > maxShort {
		name = strings.ToValidUTF8(name[:maxShort], "") + "…"
	}
	return name
}

// kernelOf maps the names that PyTorch's ProcessGroupNCCL records to collectives, or to ends of a
// message.
func kernelOf(name string) (kind collective.Kind, message nodeType) {
	switch name {
	case "allreduce", "allreduce_coalesced", "all_reduce", "barrier":
		return collective.AllReduce, 0
	case "all_gather", "_allgather_base", "allgather_into_tensor_coalesced":
		return collective.AllGather, 0
	case "reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced":
		return collective.ReduceScatter, 0
	case "broadcast", "_broadcast_oop":
		return collective.Broadcast, 0
	case "reduce", "_reduce_oop":
		return collective.Reduce, 0
	case "gather":
		return collective.Gather, 0
	case "scatter":
		return collective.Scatter, 0
	case "all_to_all", "all_to_allv":
		return collective.AllToAll, 0
	case "send":
		return 0, commSend
	case "recv":
		return 0, commRecv
	}
	return 0, 0
}

// elementTypes lists PyTorch's names of types and their bytes; 0 is no type.
var elementTypes = [...]struct {
	name  string
	bytes int64
}{{}, {"Byte", 1}, {"Char", 1}, {"Bool", 1}, {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}, {"Half", 2},
	{"BFloat16", 2}, {"Short", 2}, {"Float", 4}, {"Int", 4}, {"Double", 8}, {"Long", 8},
	{"ComplexFloat", 8}, {"ComplexDouble", 16}}

// elementType returns the index of a type, 0 if it is unknown.
func elementType(name string) uint8 {
	for i := range elementTypes {
		if elementTypes[i].name == name {
			return uint8(i)
		}
	}
	return 0
}
