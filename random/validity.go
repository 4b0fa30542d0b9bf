package random

import (
	"slices"

	"collsim/collective"
	"collsim/program"
)

// isValid reports whether package program accepts a program, and every rank has the inputs of its
// ops.
func isValid(p *program.Program) bool { return p.Validate() == nil && isDefined(p) }

// isDefined reports whether every rank has the inputs of its ops: given ones, and those that an
// earlier op wrote there.
func isDefined(p *program.Program) bool {
	has := map[string][]bool{}
	for _, t := range p.Tensors {
		has[t.Name] = make([]bool, p.Ranks)
		for rank := range p.Ranks {
			has[t.Name][rank] = isGiven(p, t.Name)
		}
	}
	for i := range p.Ops {
		o := &p.Ops[i]
		for _, team := range teamsOf(p, o.Group) {
			reads, writes := sides(o, team)
			for _, rank := range reads {
				for _, name := range o.In {
					if !has[name][rank] {
						return false
					}
				}
			}
			for _, name := range outs(o) {
				if has[name] == nil {
					has[name] = make([]bool, p.Ranks)
				}
				for _, rank := range writes {
					has[name][rank] = true
				}
			}
		}
	}
	return true
}

// isGiven reports whether a declared tensor is there before the first op: no op writes it, or the
// first one that uses it reads it.
func isGiven(p *program.Program, name string) bool {
	for i := range p.Ops {
		switch o := &p.Ops[i]; {
		case slices.Contains(o.In, name):
			return true
		case slices.Contains(outs(o), name):
			return false
		}
	}
	return true
}

// outs lists the tensors that an op writes.
func outs(o *program.Op) []string {
	if o.Out == "" {
		return o.Outs
	}
	return []string{o.Out}
}

// teamsOf returns the teams of a group; without a name, one team of all ranks.
func teamsOf(p *program.Program, name string) [][]int {
	for _, g := range p.Groups {
		if g.Name == name {
			return g.Teams
		}
	}
	return [][]int{ranksOf(p.Ranks)}
}

// sides returns the ranks of a team that read the tensors of an op, and those that write them.
func sides(o *program.Op, team []int) (reads, writes []int) {
	reads, writes = team, team
	if o.Call == "" {
		return reads, writes
	}
	c, err := collective.ParseCommunication(o.Call)
	if err != nil { // Validate has refused it
		return nil, nil
	}
	root := team[c.Root : c.Root+1]
	switch c.Kind {
	case collective.Broadcast, collective.Scatter:
		reads = root
	case collective.Reduce, collective.Gather:
		writes = root
	}
	return reads, writes
}
