package dumps

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/collective/calls"
)

// The flight recorder of PyTorch keeps a ring of entries:
// torch/csrc/distributed/c10d/FlightRecorder* of versions 1 to 2.10. Older ones have seq_id for
// collective_seq_id, or are a list of entries.

// isObject recognises an object with a key near its beginning.
func isObject(keys ...string) func([]byte) bool {
	return func(text []byte) bool {
		if !bytes.HasPrefix(text, []byte("{")) {
			return false
		}
		head := text[:min(len(text), 1<<12)]
		return slices.ContainsFunc(keys, func(key string) bool {
			return bytes.Contains(head, []byte(`"`+key+`"`))
		})
	}
}

// isRecorder recognises a dump of the flight recorder.
func isRecorder(text []byte) bool {
	head := text[:min(len(text), 1<<12)]
	return isObject("pg_config", "pg_status", "entries", "nccl_comm_state")(text) ||
		bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"profiling_name"`))
}

func readJSON(b *builder, f file) error {
	v, err := parseJSON(f)
	if err != nil {
		return err
	}
	return readRecorder(b, f, v)
}

func readPickle(b *builder, f file) error {
	v, err := parsePickle(f)
	if err != nil {
		return err
	}
	return readRecorder(b, f, v)
}

// recorder reads the dump of a rank.
type recorder struct {
	*builder
	config value // pg_config
	calls  []calls.Call
	parts  map[[2]int64]int  // calls of a group and number by now
	known  map[[2]string]int // groups by name and description
	batch  int
	fences []int64 // by call: the number of its batch, or of its collective
}

// readRecorder reads a dump: an object, or the list of its entries.
func readRecorder(b *builder, f file, v value) error {
	if _, err := b.own(f); err != nil {
		return err
	}
	r := recorder{builder: b, config: v.get("pg_config"), parts: map[[2]int64]int{},
		known: map[[2]string]int{}}
	if err := r.configured(); err != nil {
		return err
	}
	entries := v.get("entries")
	if _, bare := v.items(); bare {
		entries = v
	} else if err := v.object(); err != nil {
		return err
	}
	list, err := entries.list()
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := r.entry(e); err != nil {
			return err
		}
	}
	r.renumber()
	r.whole(list)
	own := b.rank(f.rank)
	own.Calls = append(own.Calls, r.calls...)
	return r.marks(v.get("pg_status"), own)
}

// renumber leaves out the numbers that batches of messages have used up in versions that count them
// among the collectives: ranks make different batches.
func (r *recorder) renumber() {
	last, used := map[int]int64{}, map[int]int64{} // by group
	for i := range r.calls {
		c := &r.calls[i]
		before, seen := last[c.Group]
		if c.Message() && seen && c.Seq > before {
			used[c.Group] += c.Seq - before
		}
		if seen || !c.Message() {
			last[c.Group] = c.Seq
		}
		if c.Seq -= used[c.Group]; used[c.Group] > 0 {
			r.note("numbers that batches of messages use up are not counted: #42 here may be a later " +
				"collective_seq_id")
		}
	}
}

// whole leaves out the oldest number of a ring that has overwritten entries: of calls made
// together, some may be lost.
func (r *recorder) whole(entries []value) {
	if len(r.calls) == 0 {
		return
	}
	number, err := entries[0].get("record_id").whole(0)
	if first := r.calls[0]; err == nil && number > 0 && first.State == calls.Completed {
		r.calls = slices.DeleteFunc(r.calls, func(c calls.Call) bool {
			return c.Group == first.Group && c.Seq == first.Seq && !c.Message()
		})
	}
}

// entry reads a call.
func (r *recorder) entry(e value) error {
	if err := e.object(); err != nil {
		return err
	}
	g, err := r.groupOf(e)
	if err != nil {
		return err
	}
	c := calls.Call{Group: g, In: -1, Out: -1, Root: -1}
	title, err := e.get("profiling_name").text()
	if err != nil {
		return err
	}
	if title == "" {
		return e.get("profiling_name").wrong("the name of a call is expected")
	}
	state, err := e.get("state").text()
	if err != nil {
		return err
	}
	if c.State, err = stateOf(e.get("state"), state); err != nil {
		return err
	}
	seq := e.first("collective_seq_id", "seq_id")
	if c.Seq, err = seq.whole(0); err != nil {
		return err
	}
	if c.Time, err = e.get("time_created_ns").whole(0); err != nil {
		return err
	}
	name := title[strings.IndexByte(title, ':')+1:]
	p2p, err := e.get("p2p_seq_id").whole(0)
	if err != nil {
		return err
	}
	if name == "coalesced" && r.settle(&c, p2p) {
		return nil
	}
	c.Kind, c.Name = kindOf(name)
	c.Name, c.Frame = r.once(c.Name), r.once(frameOf(e.get("frames")))
	if err := r.tensors(e, &c); err != nil {
		return err
	}
	if message, err := r.message(e, &c, name); message || err != nil {
		r.fences = append(r.fences, p2p)
		r.calls = append(r.calls, c)
		return err
	}
	at := [2]int64{int64(g), c.Seq}
	c.Part = r.parts[at]
	r.parts[at]++
	r.fences = append(r.fences, c.Seq)
	r.calls = append(r.calls, c)
	return nil
}

// stateOf returns a state by its word; none is not stated.
func stateOf(v value, word string) (calls.State, error) {
	for s := calls.Unstated; s <= calls.Completed; s++ {
		if s.String() == word {
			return s, nil
		}
	}
	return 0, v.wrong("scheduled, started or completed is expected")
}

// settle ends a batch: calls that were made together, whose state is that of the batch, since they
// have none of their own. It reports whether there were any.
func (r *recorder) settle(of *calls.Call, p2p int64) bool {
	r.batch++
	n := 0
	for i := len(r.calls) - 1; i >= 0; i, n = i-1, n+1 {
		c := &r.calls[i]
		if c.Group != of.Group || c.Batch != 0 || c.Seq != of.Seq ||
			c.Message() && r.fences[i] != p2p {
			break
		}
		c.Batch, c.State = r.batch, of.State
	}
	return n > 0
}

// groupOf returns the group of an entry, as pg_config describes it.
func (r *recorder) groupOf(e value) (int, error) {
	name, about := "", ""
	of := e.first("process_group", "pg_name")
	var err error
	if pair, ok := of.items(); ok {
		if len(pair) != 2 {
			return 0, of.wrong("name and description of a group are expected")
		}
		items, _ := of.list()
		if name, err = items[0].text(); err == nil {
			about, err = items[1].text()
		}
	} else {
		name, err = of.text()
	}
	if err != nil {
		return 0, err
	}
	if of.is == nil {
		id, err := e.get("pg_id").whole(0)
		if err != nil {
			return 0, err
		}
		name = fmt.Sprint(id)
	}
	return r.groupAs(name, about)
}

// groupAs returns the group of a name, with the ranks that pg_config has of it.
func (r *recorder) groupAs(name, about string) (int, error) {
	key := [2]string{name, about}
	if g, known := r.known[key]; known {
		return g, nil
	}
	of := r.config.get(name)
	ranks, err := ranksOf(of.get("ranks"))
	if err != nil {
		return 0, err
	}
	if about == "undefined" {
		about = ""
	}
	r.known[key] = r.group(name, about, ranks)
	return r.known[key], nil
}

// configured adds the groups of pg_config. In some of them a rank may have made no call.
func (r *recorder) configured() error {
	object, _ := r.config.is.(map[string]any)
	for _, name := range sortedKeys(object) {
		about, err := r.config.get(name).get("desc").text()
		if err == nil {
			_, err = r.groupAs(name, about)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ranksOf reads the ranks of a group, which are a list or its text: "[0, 1]".
func ranksOf(v value) (ranks []int, err error) {
	if text, ok := v.is.(string); ok {
		v.is = []any{}
		for _, one := range strings.FieldsFunc(text, func(c rune) bool {
			return strings.ContainsRune("[], ", c)
		}) {
			v.is = append(v.is.([]any), one)
		}
	}
	list, err := v.list()
	if err != nil {
		return nil, err
	}
	for _, one := range list {
		rank, err := one.rank()
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, rank)
	}
	return ranks, nil
}

// frameOf returns the innermost frame outside of PyTorch: "train_step (train.py:88)".
func frameOf(v value) string {
	list, _ := v.items()
	best := ""
	for i := range list {
		one := value{is: list[i]}
		name, _ := one.get("name").text()
		file, _ := one.get("filename").text()
		line, _ := one.get("line").whole(0)
		if file == "" {
			continue
		}
		text := fmt.Sprintf("%s (%s:%d)", name, file[strings.LastIndexByte(file, '/')+1:], line)
		if !strings.Contains(file, "/torch/") && !strings.HasPrefix(file, "torch/") {
			return text
		}
		best = cmp.Or(best, text)
	}
	return best
}

// marks reads how far a rank has come in groups without entries.
func (r *recorder) marks(status value, own *calls.Rank) error {
	for g, group := range r.Groups {
		one := status.get(group.Name)
		has := slices.ContainsFunc(own.Calls, func(c calls.Call) bool { return c.Group == g })
		if one.is == nil || has || !slices.Contains(group.Ranks, own.Number) {
			continue
		}
		enqueued, err := one.get("last_enqueued_collective").whole(-1)
		if err != nil {
			return err
		}
		completed, err := one.get("last_completed_collective").whole(-1)
		if err != nil {
			return err
		}
		own.Marks = append(own.Marks, calls.Mark{Group: g, Enqueued: enqueued, Completed: completed})
	}
	return nil
}
