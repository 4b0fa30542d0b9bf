package libraries

import (
	"fmt"
	"slices"
	"strings"

	"collsim/algos"
	"collsim/collective"
)

// A library is a table of choices: the first rule that holds for a collective is the one.
type library struct {
	name   string // of the algorithm, as "mpich:auto"
	about  string
	when   string
	source string
	params []algos.Param
	rules  []rule
}

// A rule says what a library chooses.
type rule struct {
	kinds  []collective.Kind
	when   condition
	theirs string // the library's name of what it chooses
	ours   string // what does the same here; "" where there is nothing
	with   func(spec collective.Spec, o *algos.Options)
	note   string // what ours does otherwise; empty where it sends the same messages
}

// A condition holds where all that is not zero does.
type condition struct {
	fewerRanks int    // fewer than so many
	moreRanks  int    // more than so many
	pow2, even bool   // a number of ranks
	pow4       bool   // at most 4 ranks, or a power of 4
	atMost     int64  // so many bytes, or none at all, of
	moreThan   int64  // so many bytes of
	of         amount // this
	fewer      bool   // fewer elements than the largest power of two of the ranks
	enough     bool   // as many elements as ranks, or more
	inPlace    bool
	nodes      bool                          // several nodes, of several ranks
	set        struct{ param, value string } // a parameter of the library's
}

// An amount is what a library measures of a collective.
type amount string

// The amounts.
const (
	vector amount = "vector" // a rank's vector, or all blocks together (collective.Spec.Bytes)
	block  amount = "block"  // a rank's block of them
)

// bytes returns the amount of a collective.
func (a amount) bytes(spec collective.Spec) int64 {
	if a == block {
		return int64(spec.Bytes()) / int64(spec.Ranks)
	}
	return int64(spec.Bytes())
}

// holds reports whether a condition holds.
func (c condition) holds(spec collective.Spec, param func(string) string) bool {
	largest, bytes := 1, c.of.bytes(spec)
	for 2*largest <= spec.Ranks {
		largest *= 2
	}
	switch {
	case c.fewerRanks > 0 && spec.Ranks >= c.fewerRanks, spec.Ranks <= c.moreRanks,
		c.pow2 && largest != spec.Ranks, c.even && spec.Ranks%2 != 0,
		c.pow4 && spec.Ranks > 4 && (largest != spec.Ranks || largest&0x55555555 == 0),
		c.atMost > 0 && bytes > c.atMost, c.moreThan > 0 && bytes <= c.moreThan,
		c.fewer && spec.Count >= int64(largest), c.enough && spec.Count < int64(spec.Ranks),
		c.inPlace && !spec.InPlace,
		c.nodes && !severalNodes(spec.Ranks, param(nodeParam)),
		c.set.param != "" && param(c.set.param) != c.set.value:
		return false
	}
	return true
}

// text formats a condition.
func (c condition) text() string {
	var all []string
	say := func(holds bool, format string, args ...any) {
		if holds {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	say(c.set.param != "", "%s=%s", c.set.param, c.set.value)
	say(c.fewerRanks > 0, "fewer than %d ranks", c.fewerRanks)
	say(c.moreRanks > 0, "more than %d ranks", c.moreRanks)
	say(c.pow2, "a power of two of ranks")
	say(c.pow4, "at most 4 ranks, or a power of 4")
	say(c.even, "an even number of ranks")
	say(c.nodes, "several nodes of several ranks")
	say(c.inPlace, "in place")
	say(c.moreThan > 0, "a %s of more than %d bytes", c.of, c.moreThan)
	say(c.atMost > 0, "a %s of at most %d bytes", c.of, c.atMost)
	say(c.fewer, "fewer elements than the largest power of two of ranks")
	say(c.enough, "as many elements as ranks")
	if all == nil {
		return "any other call"
	}
	return strings.Join(all, ", ")
}

// ruleFor returns the rule of a library for a collective.
func (l library) ruleFor(spec collective.Spec, param func(string) string) (rule, bool) {
	i := slices.IndexFunc(l.rules, func(r rule) bool {
		return slices.Contains(r.kinds, spec.Kind) && r.when.holds(spec, param)
	})
	if i < 0 {
		return rule{}, false
	}
	return l.rules[i], true
}

// kinds lists the kinds that a library has rules for.
func (l library) kinds() (all []collective.Kind) {
	for _, k := range collective.Kinds() {
		has := func(r rule) bool { return slices.Contains(r.kinds, k) }
		if slices.ContainsFunc(l.rules, has) {
			all = append(all, k)
		}
	}
	return all
}
