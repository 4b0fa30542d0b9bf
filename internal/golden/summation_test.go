package golden

import (
	"fmt"

	"collsim/algos"
	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/schedule"
)

// summation makes the schedule that gives the bits of a library's algorithm.
type summation struct {
	name  string // in the summary
	build func(collective.Spec) (*schedule.Schedule, error)
	wide  bool // adds bfloat16 in float32, and rounds when all is added
}

// ours is an algorithm of ours, with pairs of a parameter and its value.
func ours(name string, params ...string) summation {
	shown, o := name, algos.Options{}
	for i := 0; i < len(params); i += 2 {
		o.Params = append(o.Params, algos.Param{Name: params[i], Value: params[i+1]})
		shown += fmt.Sprintf("(%s=%s)", params[i], params[i+1])
	}
	return summation{name: shown, build: func(s collective.Spec) (*schedule.Schedule, error) {
		a, err := algos.Find(s.Kind, name)
		if err != nil {
			return nil, err
		}
		return a.Build(s, o)
	}}
}

// through is a whole vector's all_reduce or reduce to rank 0, of which the library then sends
// everybody what is asked for: which no bit depends on.
func through(kind collective.Kind, p summation) summation {
	return summation{name: fmt.Sprintf("%v %s", kind, p.name),
		build: func(s collective.Spec) (*schedule.Schedule, error) {
			s.Count, s.Kind, s.Splits, s.Root = vector(&s), kind, nil, 0
			return p.build(s)
		}}
}

// fewer is p, or another summation of vectors of fewer elements than need be for so many ranks.
func fewer(need func(ranks int) int, other, p summation) summation {
	name := p.name + ", of fewer elements " + other.name
	return summation{name: name, build: func(s collective.Spec) (*schedule.Schedule, error) {
		if vector(&s) < int64(need(s.Ranks)) {
			return other.build(s)
		}
		return p.build(s)
	}}
}

func each(ranks int) int { return ranks }

// power is the largest power of two that is at most so many ranks.
func power(ranks int) int {
	q := 1
	for 2*q <= ranks {
		q *= 2
	}
	return q
}

// cut is p with blocks that end where the library's do. Ours are as even as can be.
func cut(how string, size func(count, blocks int64) int64, p summation) summation {
	how = p.name + ", " + how
	return summation{name: how, build: func(s collective.Spec) (*schedule.Schedule, error) {
		built, err := p.build(s)
		if err != nil {
			return nil, err
		}
		for _, c := range built.Cuts {
			for i, level := range c {
				if level.Axis != schedule.Block {
					continue
				}
				ends := make([]int64, level.N)
				for b := range ends {
					ends[b] = min(s.Count, int64(b+1)*size(s.Count, level.N))
				}
				ends[level.N-1] = s.Count
				c[i] = schedule.Level{Axis: schedule.Block, Split: schedule.Table, N: level.N,
					Ends: [][]int64{ends}}
			}
		}
		return built, nil
	}}
}

func up(count, blocks int64) int64   { return (count + blocks - 1) / blocks }
func down(count, blocks int64) int64 { return count / blocks }

// pairs is gloo's: each block is two segments of equal size, but for what the end leaves of them.
func pairs(count, blocks int64) int64 { return 2 * up(count, 2*blocks) }

// promoted is p with bfloat16 in float32 until the end.
func promoted(p summation) summation {
	p.name, p.wide = p.name+", bfloat16 in float32 until the end", true
	return p
}

// like is an algorithm of Open MPI as algos/openmpi writes it down.
func like(c openmpi.Choice) summation {
	name := openmpi.Prefix + c.Algorithm
	return summation{name: name, build: func(s collective.Spec) (*schedule.Schedule, error) {
		return openmpi.Build(c, s)
	}}
}
