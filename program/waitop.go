package program

import (
	"fmt"
	"slices"
)

// A wait is an op of its own, as torch's Work.wait and wait_tensor: what is issued behind it on its
// stream, in the next iteration too, begins on every rank when the calls that it names have ended
// there. It takes no time.

// waited returns a program in which ops behind a wait come after the calls that it is for.
func (p *Program) waited() (*Program, error) {
	if !slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Wait != nil }) {
		return p, nil
	}
	q := *p
	q.Ops = nil
	known := map[string]bool{}       // ops so far
	pending := map[string][]string{} // by stream: what the ops behind come after
	for i, o := range p.Ops {
		o.origin = i + 1
		if o.Wait != nil {
			if err := o.checkWait(i, known); err != nil {
				return nil, err
			}
			for _, name := range o.Wait {
				if of := pending[o.streamName()]; !slices.Contains(of, name) {
					pending[o.streamName()] = append(of, name)
				}
			}
			continue
		}
		known[o.Name] = true
		stream := o.streamName()
		for _, name := range pending[stream] {
			if !slices.Contains(o.After, name) {
				o.After = append(slices.Clip(o.After), name)
			}
		}
		if o.Group == "" || o.Group == "all" { // whatever is behind it on the stream comes after it
			delete(pending, stream)
		}
		q.Ops = append(q.Ops, o)
	}
	q.pending = pending // for the next iteration
	return &q, nil
}

// checkWait returns what is wrong with a wait.
func (o *Op) checkWait(i int, known map[string]bool) error {
	for _, key := range []struct {
		name string
		set  bool
	}{{"call", o.Call != ""}, {"kernel", o.Kernel != ""}, {"in", o.In != nil},
		{"out", o.Out != "" || o.Outs != nil}, {"group", o.Group != ""}, {"async", o.Async},
		{"algorithm", o.Algorithm != ""}, {"after", o.After != nil}, {"backward", o.Backward != ""},
		{"dtype", o.Type != 0}, {"shape", o.Shape != nil}} {
		if key.set {
			return &Error{i, -1, key.name, fmt.Sprintf("%s: a wait is an op of its own, of ops and a "+
				"stream: no %s is expected", o.Name, key.name)}
		}
	}
	for _, name := range o.Wait {
		if !known[name] {
			return &Error{i, -1, "wait", fmt.Sprintf("%s: %q is no op before it", o.Name, name)}
		}
	}
	return nil
}

// streamName returns the stream of an op: that of kernels for a wait, too.
func (o *Op) streamName() string {
	switch {
	case o.Stream != "":
		return o.Stream
	case o.Call != "":
		return "comm"
	}
	return "compute"
}
