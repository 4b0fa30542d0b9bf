package program

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/kernel"
)

const overGroup = "over="

// over returns the group that a kernel shards a tensor over, if it is such: "shard axis=1 over=tp"
// keeps, on each rank of a team, as many parts from the first as the rank's place in it.
func (r *resolved) over() (group string, is bool) {
	words := strings.Fields(r.Kernel)
	if words[0] != kernel.Shard.String() {
		return "", false
	}
	for _, word := range words[1:] {
		if group, is = strings.CutPrefix(word, overGroup); is {
			return group, true
		}
	}
	return "", false
}

// shardOver finds the kernel of every rank: one for each place in a team of a group.
func (l *lookup) shardOver(r *resolved, group string) error {
	teams, err := l.teamsOf(group)
	if err != nil {
		return err
	}
	if len(r.in) > 0 && r.in[0].rows != nil {
		return fmt.Errorf("%s has other lengths on its ranks; equal parts are of equal lengths",
			r.in[0].Name)
	}
	whole := make([]collective.Shape, len(r.in))
	for i, t := range r.in {
		whole[i] = t.Shape
	}
	places := map[int]part{}
	for _, team := range teams {
		if team == nil {
			team = l.ranksOf([][]int{nil})
		}
		for place, rank := range team {
			places[rank] = part{place, len(team)}
		}
	}
	for _, rank := range l.ranksOf(r.teams) {
		p, is := places[rank]
		if !is {
			return fmt.Errorf("%s%s: rank %d is in no team of it", overGroup, group, rank)
		}
		one := *r
		ofRank := *r.Op
		ofRank.Kernel = strings.Replace(r.Kernel, overGroup+group,
			fmt.Sprintf("part=%d of=%d", p.place, p.of), 1)
		one.Op = &ofRank
		op, err := one.kernelOn(whole)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(r.shares, func(s share) bool { return s.kernel == op })
		if at < 0 {
			at = len(r.shares)
			r.shares = append(r.shares, share{kernel: op})
		}
		r.shares[at].ranks = append(r.shares[at].ranks, rank)
	}
	r.kernel = r.shares[0].kernel
	out := r.kernel.Output()
	r.out = Tensor{Type: out.Type, Shape: out.Shape}
	return nil
}

// kernelText returns the text of an op's kernel; where ranks keep parts of their own, without them.
func (r *resolved) kernelText() string {
	text := r.kernel.String()
	group, is := r.over()
	if !is {
		return text
	}
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		return strings.HasPrefix(word, "part=") || strings.HasPrefix(word, "of=")
	})
	return strings.Join(append(words, overGroup+group), " ")
}

// A part is one of some equal ones.
type part struct{ place, of int }
