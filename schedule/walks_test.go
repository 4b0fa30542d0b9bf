package schedule

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func MustParse(t testing.TB, text string) *Schedule {
	s, err := Parse(text)
	require.NoError(t, err)
	return s
}

// damage replaces each line that a patch marks with "- " by the "+ " lines that follow it.
func Damage(t *testing.T, text, patch string) string {
	lines := strings.Split(text, "\n")
	at := 0
	for _, edit := range strings.Split(patch, "\n") {
		mark, line, _ := strings.Cut(edit, " ")
		if mark == "-" {
			i := slices.Index(lines[at:], line)
			require.GreaterOrEqual(t, i, 0, "no line %q after line %d", line, at)
			at += i
			lines = slices.Delete(lines, at, at+1)
			continue
		}
		lines = slices.Insert(lines, at, line)
		at++
	}
	return strings.Join(lines, "\n")
}

// walkText prints the steps of a rank as the cursor has them.
func WalkText(s *Schedule, rank int) string {
	var b strings.Builder
	p := s.Program(rank)
	var step Step
	for lane := range p.Lanes() {
		fmt.Fprintf(&b, "lane %d\n", lane)
		for c := p.Walk(lane); !c.Done(); c.Next(1) {
			p.Load(&c, &step)
			fmt.Fprintf(&b, "  %s\n", s.StepText(lane, &step))
		}
	}
	return b.String()
}

// stepText prints one concrete step of a lane.
func (s *Schedule) StepText(lane int, step *Step) string {
	var b strings.Builder
	w := writer{b: &b, schedule: s, bundle: &bundle{first: int32(lane), count: 1},
		leaf: &leaf{}, present: step}
	w.step()
	return b.String()
}

// checkWalks compares the cursor with a second unroller that shares nothing with it but the stored
// program: recursive, one lane and one digit at a time.
func CheckWalks(t *testing.T, s *Schedule) {
	for rank := range s.Spec.Ranks {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			var want []string
			for _, b := range p.code.bundles {
				if k := int32(lane) - b.first; k >= 0 && k < b.count {
					at := []int32{k}
					naive(s, p.code, b.from, b.to, at, func(step Step) {
						naiveTranslate(s, &step, int32(rank))
						want = append(want, s.StepText(lane, &step))
					})
				}
			}
			var got []string
			var step Step
			subSteps := 0
			for c := p.Walk(lane); !c.Done(); c.Next(int32(s.Slices)) {
				subSteps++
				p.Load(&c, &step)
				if c.Last(int32(s.Slices)) {
					require.Equal(t, step.Moves(), int(c.Slice()) == s.Slices-1 && step.Moves())
					got = append(got, s.StepText(lane, &step))
				}
			}
			require.Equal(t, want, got, "rank %d lane %d", rank, lane)
			require.LessOrEqual(t, subSteps, s.Slices*len(want))
		}
	}
}

func naive(s *Schedule, c *code, from, to int32, at []int32, f func(Step)) {
	for pc := from; pc < to; pc++ {
		n := c.nodes[pc]
		if n.leaf < 0 {
			for i := range n.count {
				naive(s, c, pc+1, pc+1+n.size, append(slices.Clone(at), i), f)
			}
			pc += n.size
			continue
		}
		l := c.leaves[n.leaf]
		step, k := l.step.clone(), 0
		step.variables(func(x *int32, _ modulus) {
			for d, i := range at {
				if d < len(l.strides) && l.strides[d] != nil {
					*x += i * l.strides[d][k]
				}
			}
			k++
		})
		f(step)
	}
}

// naiveTranslate adds the rank, digit by digit, to peers and to blocks numbered by rank.
func naiveTranslate(s *Schedule, step *Step, rank int32) {
	digits := func(x int32) []int32 {
		list := make([]int32, len(s.Group))
		for i := len(s.Group) - 1; i >= 0; i-- {
			list[i], x = x%s.Group[i], x/s.Group[i]
		}
		return list
	}
	add := func(x int32) int32 {
		a, b, sum := digits(x), digits(rank), int32(0)
		for i, d := range s.Group {
			sum = sum*d + (a[i]+b[i])%d
		}
		return sum
	}
	step.variables(func(x *int32, m modulus) {
		switch {
		case m == byPeer:
			if *x = mod(*x, int32(s.Spec.Ranks)); s.Group != nil {
				*x = add(*x)
			}
		case m >= byBlock:
			*x = mod(*x, s.blocks[m-byBlock])
		}
	})
	if step.Ranked { // bubble: who has the lower number stands on the left
		from := func(f *Source) int32 {
			if f.Kind == Message {
				return f.Peer.Rank
			}
			return rank
		}
		for i := range step.From {
			for j := range i {
				if from(&step.From[i]) < from(&step.From[j]) {
					step.From[i], step.From[j] = step.From[j], step.From[i]
				}
			}
		}
	}
	team := func(ranks []int32) []int32 {
		if s.Group == nil || ranks == nil {
			return ranks
		}
		moved := []int32{}
		for _, r := range ranks {
			moved = append(moved, add(r))
		}
		slices.Sort(moved)
		return moved
	}
	for i := range step.From {
		step.From[i].Team = team(step.From[i].Team)
	}
	for i := range step.Send {
		step.Send[i].Team = team(step.Send[i].Team)
	}
	step.regions(func(r *Region) {
		if s.Group == nil || !s.Cuts[r.Buffer].byRank() {
			return
		}
		if len(s.Group) == 1 || r.count() == 1 && r.List == nil {
			r.First = add(r.First)
			return
		}
		list := []int32{}
		for i := range r.count() {
			list = append(list, add(mod(r.block(i), s.blocks[r.Buffer])))
		}
		r.List = list
	})
}

// TestSameSizes: a table of channels that differs from rank to rank has ranks move different sizes,
// even if the blocks of a channel are of one size on each.
func TestSameSizes(t *testing.T) {
	text := `schedule
collective all_reduce int32 sum
ranks 2
count 8
group 2
cut in channel table %s, block even 2 by rank
cut out channel table %[1]s, block even 2 by rank
rank *
  lane 0 channel 0
    send in[0] to 1
    recv from 1 into out[1]
`
	for table, same := range map[string]bool{"2 8": true, "2 8 / 2 8": true, "2 8 / 4 8": false} {
		s, err := Parse(fmt.Sprintf(text, table))
		require.NoError(t, err)
		require.Equal(t, same, s.SameSizes(), table)
	}
}
