package program

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// Memory that other ranks, or their NICs, access must be known to them: registered, or symmetric.
// Registering takes host time, once for as long as the memory stays where it is. Given tensors
// stay. What a program writes is a new allocation in every iteration, unless buffers are
// persistent. Then the same op has the same allocation and offset in all iterations, and nothing
// else may use it meanwhile. That is alloc_id of torch's empty_strided_p2p, from which Inductor's
// CommBufferLayout is allocated.

// register applies the pass that registers the buffers of calls.
func register(x *plan) (*plan, error) {
	y := x.fork()
	done, registered := 0, map[string]bool{}
	for i := range y.ops {
		r := &y.ops[i]
		if r.call == nil || len(r.in) == 0 {
			continue
		}
		var names []string
		for _, name := range []string{r.in[0].Name, r.out.Name} {
			if t := &y.tensors[y.at[name]]; t.Memory == Private {
				t.Memory, registered[name] = Registered, true
				names = append(names, name)
			}
		}
		did, why := "left as it is", "nothing of it is private"
		if len(names) > 0 {
			done += len(names)
			did, why = "registers "+strings.Join(names, " and "), "they are private"
			if len(names) == 1 {
				why = "it is private"
			}
		}
		if x.guide.Decided == nil {
			y.note("register", r.names(), did, why)
		}
	}
	for i := range y.ops {
		y.ops[i].settle(registered)
	}
	if done == 0 || x.guide.Decided != nil {
		return y, nil
	}
	return y.total("register", x, fmt.Sprintf("%d buffers", done)), nil
}

// memoryOf returns the kind of memory of a tensor.
func (x *plan) memoryOf(name string) Memory { return x.tensors[x.at[name]].Memory }

// settle updates an op's tensors that are registered.
func (r *resolved) settle(registered map[string]bool) {
	r.in = slices.Clone(r.in)
	for k := range r.in {
		if registered[r.in[k].Name] {
			r.in[k].Memory = Registered
		}
	}
	if registered[r.out.Name] {
		r.out.Memory = Registered
	}
}

// persist applies the pass that keeps buffers of communication where they are.
func persist(x *plan) (*plan, error) {
	y := x.fork()
	y.persistent = true
	if x.guide.Decided != nil {
		return y, nil
	}
	done := 0
	for i := range y.ops {
		r := &y.ops[i]
		if r.call == nil || len(r.in) == 0 {
			continue
		}
		kept, why := []string(nil), []string(nil)
		for _, name := range []string{r.in[0].Name, r.out.Name} {
			switch {
			case slices.Contains(kept, name):
			case y.memoryOf(name) == Private:
				why = append(why, name+" is private: nobody else knows where it lies")
			case y.roles[y.rootOf(name)].IsGiven():
				why = append(why, name+" is given: it stays where it is")
			default:
				kept = append(kept, name)
			}
		}
		did := "left as it is"
		if len(kept) > 0 {
			did = "keeps the allocation of " + strings.Join(kept, " and ")
			done += len(kept)
		}
		y.note("persistent", r.names(), did, strings.Join(slices.Compact(why), "; "))
	}
	if done == 0 {
		return y, nil
	}
	return y.total("persistent", x, fmt.Sprintf("%d buffers", done)), nil
}

// rootOf returns the tensor in which a tensor is always stored; itself if it has its own storage.
func (x *plan) rootOf(name string) string {
	for h, lies := x.homes[name]; lies && !h.shared; h, lies = x.homes[name] {
		name = h.in
	}
	return name
}

// isPersistent reports whether a tensor is a persistent buffer for communication.
func (x *plan) isPersistent(t Tensor) bool { return x.persistent && t.Memory != Private }

// known adds the parts that register buffers with the other ranks of a call, before it on its
// stream, and returns their numbers: none where registering is free, or has been done.
func (w *scheduler) known(teams [][]int, stream string, iteration int, names []string) (
	numbers []int) {
	if w.passes.Registering == 0 {
		return nil
	}
	for _, name := range names {
		root := w.rootOf(name)
		stays := true // a workspace
		if i, is := w.at[root]; is {
			if w.plan.tensors[i].Memory == Private {
				continue
			}
			stays = w.persistent || w.roles[root].IsGiven()
		}
		last, done := w.registered[root]
		if done && (stays || last == iteration) {
			continue
		}
		w.registered[root] = iteration
		var ranks []int
		if teams[0] != nil {
			ranks = slices.Concat(teams...)
		}
		numbers = append(numbers, w.add(
			[]schedule.Part{w.registering(root, ranks, w.stream(stream))}, nil, nil)...)
	}
	w.result.Registering = append(w.result.Registering, numbers...)
	return numbers
}

// registering returns a part in which the host of some ranks registers a buffer.
func (w *scheduler) registering(name string, ranks []int, stream int32) schedule.Part {
	op := kernel.Op{Kind: kernel.Opaque, Time: w.passes.Registering}
	tensors, _, _ := kernelOf(op)
	word := schedule.Word("register " + name)
	none := make([]int64, w.teamSize(ranks))
	s, err := schedule.Build(schedule.Plan{Name: word, Tensors: tensors, Same: true,
		Lane: func(l *schedule.Lane) {
			l.Launch(schedule.Launch{Name: word, Engine: schedule.Host})
			l.Compute(op, schedule.Region{})
		},
		Spec: collective.Spec{Kind: collective.Custom, Type: tensors[0].Type, Ranks: len(none),
			Splits: [][]int64{none, none}}})
	if err != nil {
		panic(err) // nothing but a time
	}
	return schedule.Part{Name: word, Schedule: s, Ranks: ranks, Stream: stream,
		Memory: make([]schedule.Place, schedule.FirstTensor)}
}
