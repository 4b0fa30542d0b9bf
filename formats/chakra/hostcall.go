package chakra

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"collsim/internal/prose"
)

// The host's events record_param_comms have what a kernel of NCCL was called for: the root, which
// Kineto copies to no kernel, and in many traces what else the kernel's arguments lack. A kernel
// belongs to the call with its External id; or to that of the runtime's event that launched it; or
// to the one in which its thread was when it launched the kernel.

// hostCalls holds the host's calls and launches of a file.
type hostCalls struct {
	all      []*hostCall             // in the order in which they began
	threads  map[string]*threadCalls // the same by thread
	byID     map[int64]*hostCall     // by External id
	launches map[int64]launch        // by correlation
}

// hostCall is a record_param_comms.
type hostCall struct {
	args       eventArgs
	thread     string
	start, end int64 // in ns
	kernels    []*event
}

// threadCalls holds the calls of a thread in the order in which they began.
type threadCalls struct {
	calls []*hostCall
	ends  []int64 // when the last of those up to a call ended
}

// at returns the last to begin of the calls that a thread was in, nil if there is none.
func (c *threadCalls) at(time int64) *hostCall {
	if c == nil {
		return nil
	}
	i := sort.Search(len(c.calls), func(i int) bool { return c.calls[i].start > time }) - 1
	for ; i >= 0 && c.ends[i] >= time; i-- {
		if c.calls[i].end >= time {
			return c.calls[i]
		}
	}
	return nil
}

// launch is the event of a runtime's call that launched something.
type launch struct {
	id     int64 // External id, 0 if it has none
	thread string
	at     int64 // in ns
}

// called records a call of the host. Older traces have no arguments in it.
func (k *kineto) called(e *event) error {
	if len(e.Args) == 0 {
		return nil
	}
	if err := e.decode(); err != nil {
		return err
	}
	if err := e.times(); err != nil {
		return err
	}
	c := &hostCall{args: e.args, thread: string(e.Thread), start: e.start, end: e.end}
	k.host.all = append(k.host.all, c)
	if e.args.Call != 0 {
		k.host.byID[e.args.Call] = c
	}
	return nil
}

// launched records a launch. An event that is none, or lacks what is needed, is passed over.
func (k *kineto) launched(e *event) error {
	if len(e.Args) == 0 || e.times() != nil || e.decode() != nil || e.args.Correlation == nil {
		return nil
	}
	if len(k.host.launches) < maxNodes {
		k.host.launches[*e.args.Correlation] = launch{e.args.Call, string(e.Thread), e.start}
	}
	return nil
}

// nameless gives kernels of NCCL that carry no call the arguments of the host's. A call with
// several kernels cannot be divided among them; they and those whose call is not known are
// computations of their recorded time, as a note reports.
func (k *kineto) nameless() {
	k.host.sort()
	var without []*event
	for _, e := range k.events {
		if c := k.host.byID[e.args.Call]; c != nil && e.args.Collective != "" {
			c.kernels = append(c.kernels, e)
		}
		if !e.isNCCL() || e.args.Collective != "" {
			continue
		}
		if c := k.host.of(e); c != nil {
			c.kernels = append(c.kernels, e)
		} else {
			without = append(without, e)
		}
	}
	named := 0
	for _, c := range k.host.all {
		for _, e := range c.kernels {
			switch {
			case e.args.Collective != "":
			case len(c.kernels) == 1:
				e.take(&c.args)
				named++
			default:
				without = append(without, e)
			}
		}
	}
	if named > 0 {
		k.note(fmt.Sprintf("kernels of NCCL that do not carry their call take it from the host's "+
			"record_param_comms, %d of them", named))
	}
	if len(without) > 0 {
		first := slices.MinFunc(without, func(a, b *event) int { return cmp.Compare(a.number, b.number) })
		k.note(fmt.Sprintf("%s of NCCL, whose calls the trace does not name, are taken as computations "+
			"of the recorded time, waiting included (first %v); newer PyTorch records the calls, with "+
			"ProfilerActivity.CPU", prose.Plural(len(without), "kernel"), first))
	}
}

// sort puts the calls in the order in which they began, and divides them among their threads.
func (h *hostCalls) sort() {
	slices.SortStableFunc(h.all, func(a, b *hostCall) int { return cmp.Compare(a.start, b.start) })
	h.threads = map[string]*threadCalls{}
	for _, c := range h.all {
		of := h.threads[c.thread]
		if of == nil {
			of = &threadCalls{}
			h.threads[c.thread] = of
		}
		end := c.end
		if n := len(of.ends); n > 0 {
			end = max(end, of.ends[n-1])
		}
		of.calls, of.ends = append(of.calls, c), append(of.ends, end)
	}
}

// isNCCL reports whether an activity is a kernel of NCCL or RCCL.
func (e *event) isNCCL() bool {
	name := short(e.Name)
	return strings.HasPrefix(name, "ncclDevKernel") || strings.HasPrefix(name, "ncclKernel")
}

// of returns the host's call to which a kernel belongs, nil if none is known that says what it was.
func (h *hostCalls) of(e *event) *hostCall {
	if c := h.byID[e.args.Call]; c.complete() {
		return c
	}
	l, known := h.launches[*e.args.Correlation]
	if !known {
		return nil
	}
	if c := h.byID[l.id]; c.complete() {
		return c
	}
	if c := h.threads[l.thread].at(l.at); c.complete() {
		return c
	}
	return nil
}

// complete reports whether a call is known that says which collective it was.
func (c *hostCall) complete() bool {
	if c == nil {
		return false
	}
	kind, message := kernelOf(c.args.Collective)
	return (kind != 0 || message != 0) && c.args.In != nil && c.args.Out != nil && c.args.Size != nil
}

// take copies to a kernel's arguments those of its call.
func (e *event) take(of *eventArgs) {
	own := e.args
	e.args = *of
	e.args.Stream, e.args.Correlation = own.Stream, own.Correlation
}
