package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxRepeat bounds how often a table of a program is repeated, and how many tensors and ops it has.
const maxRepeat = 200_000

// counters are the letters that count the turns of loops in one another, the outermost first.
const counters = "ijk"

// loopKeys returns the keys of an op that say how often it is done.
func loopKeys() []Key {
	return []Key{
		{Path: "program.op.repeat", kind: aCount, min: 1, max: maxRepeat, Default: "1",
			Example: "[4, 32]", Sweep: true,
			Doc: "How often it is done, with the ops behind it of the same loop: {i} in the names of " +
				"ops and tensors is 0, 1, … and {-i} counts down to 0; {i+1}, {i-1}, {-i+1} and {-i-1} " +
				"are their neighbours. A list is up to three loops in one another, the outermost first, " +
				"as of 4 microbatches of 32 layers each: {j} and {k} count the inner ones. Ops of as many " +
				"turns of the outer loop stand in the same one, whether they are in an inner loop or not.",
			by: (*run).programOps},
		{Path: "program.op.loop", kind: aNames, Example: `"backward"`, Default: "none",
			Doc: "What tells two loops apart that are repeated as often and stand next to each other; a " +
				"list has the names of loops in one another, as [\"step\", \"backward\"].",
			by: (*run).programOps},
	}
}

// repeats reads how often a table is repeated, by loops in one another, the outermost first.
func repeats(v *view, at string) (times []int, ok bool) {
	it, given := v.item(at)
	switch value := it.value.(type) {
	case int64:
		return []int{int(value)}, true
	case []int:
		if len(value) > 0 && len(value) <= len(counters) {
			return value, true
		}
		v.fail(at, problem{fmt.Sprintf("%d loops in one another; 1 to %d are expected", len(value),
			len(counters)), ""})
		return nil, false
	}
	return []int{1}, !given
}

// fewer refuses more tensors or ops than a program may have.
func (v *view) fewer(at string, n int64) bool {
	if n > maxRepeat {
		v.fail(at, problem{fmt.Sprintf("%d altogether; a program has at most %d", n, maxRepeat), ""})
	}
	return n <= maxRepeat
}

// turnsOf returns how many turns loops in one another have; three of at most maxRepeat each fit.
func turnsOf(times []int) int64 {
	n := int64(1)
	for _, often := range times {
		n *= int64(often)
	}
	return n
}

// inLoops refuses names that count the turns of a loop that is not there.
func inLoops(v *view, at string, times []int, names ...string) bool {
	for _, letter := range counters[min(len(times), len(counters)):] {
		for _, name := range names {
			for _, word := range []string{"{%c}", "{%c+1}", "{%c-1}", "{-%c}", "{-%c+1}", "{-%c-1}"} {
				if word = fmt.Sprintf(word, letter); strings.Contains(name, word) {
					v.fail(at+"repeat", problem{fmt.Sprintf("%q counts a loop that is not there: repeat "+
						"has %d", word, len(times)), "for example repeat = [4, 32], with {i} and {j}"})
					return false
				}
			}
		}
	}
	return true
}

// eachTurn calls do for every turn of loops in one another.
func eachTurn(times []int, do func(turns []int)) {
	turns := make([]int, len(times))
	var loop func(level int)
	loop = func(level int) {
		if level == len(times) {
			do(turns)
			return
		}
		for turns[level] = range times[level] {
			loop(level + 1)
		}
	}
	loop(0)
}

// indexed returns the name of one turn.
func indexed(name string, turns, times []int) string {
	for level, i := range turns {
		down := times[level] - 1 - i
		letter := counters[level : level+1]
		for _, by := range []struct {
			word string
			is   int
		}{{"{_}", i}, {"{_+1}", i + 1}, {"{_-1}", i - 1}, {"{-_}", down}, {"{-_+1}", down + 1},
			{"{-_-1}", down - 1}} {
			name = strings.ReplaceAll(name, strings.Replace(by.word, "_", letter, 1), strconv.Itoa(by.is))
		}
	}
	return name
}

// looped is an op with the loops that it is in, the outermost first.
type looped struct {
	ProgramOp
	times []int
	names []string // of the loops; the last may be without
}

// name returns the name of a loop, empty if it has none.
func (o *looped) name(level int) string {
	if level < len(o.names) {
		return o.names[level]
	}
	return ""
}

// programOps reads the ops, and repeats them. Those next to each other of as many turns are in one
// loop, unless that has two names.
func (r *run) programOps(v *view, p *ProgramPoint, n int) bool {
	var list []looped
	all := int64(0)
	for number := range n {
		key := numbered("program.op", number) + "."
		o, whole := r.programOp(v, p, number)
		times, readable := repeats(v, key+"repeat")
		names, named := fetchOr(v, key+"loop", []string(nil))
		if !whole || !readable || !named || !v.fewer(key+"repeat", all+turnsOf(times)) {
			return false
		}
		if o.Name == "" {
			o.Name = fmt.Sprintf("op %d", number)
			for level, often := range times {
				if often > 1 {
					o.Name += " {" + counters[level:level+1] + "}"
				}
			}
		}
		used := slices.Concat([]string{o.Name, o.Out, o.Stream}, o.In, o.Outs, o.After,
			o.Wait)
		if !inLoops(v, key, times, used...) {
			return false
		}
		if list = append(list, looped{o, times, names}); !o.Disabled {
			all += turnsOf(times)
		}
	}
	p.unroll(list, nil)
	return true
}

// unroll appends ops, which are all in the same turns of some loops, in the turns of the loops
// within these.
func (p *ProgramPoint) unroll(list []looped, turns []int) {
	level := len(turns)
	for from := 0; from < len(list); {
		first, to := &list[from], from+1
		if len(first.times) == level {
			if from = to; !first.Disabled {
				p.Ops = append(p.Ops, first.turn(turns))
			}
			continue
		}
		for to < len(list) && len(list[to].times) > level &&
			list[to].times[level] == first.times[level] && list[to].name(level) == first.name(level) {
			to++
		}
		for i := range first.times[level] {
			p.unroll(list[from:to], append(slices.Clone(turns), i))
		}
		from = to
	}
}

// turn returns the op of one turn of its loops. The outermost counts the microbatches.
func (o *looped) turn(turns []int) ProgramOp {
	one, name := o.ProgramOp, func(s string) string { return indexed(s, turns, o.times) }
	one.Name, one.Out, one.Stream = name(one.Name), name(one.Out), name(one.Stream)
	one.In, one.Outs = names(one.In, name), names(one.Outs, name)
	one.After, one.Wait = names(one.After, name), names(one.Wait, name)
	if len(turns) > 0 {
		one.Microbatch = turns[0]
	}
	return one
}

// names applies a function to names.
func names(list []string, of func(string) string) (all []string) {
	for _, name := range list {
		all = append(all, of(name))
	}
	return all
}
