package transfers

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// world is what every rank has in every block of every tile, as text: "+" is a sum.
type world map[string]string

func name(rank int32, b schedule.Buffer, tile, block int32) string {
	return fmt.Sprint(rank, b, tile, block)
}

// naive carries out a plan as the contract has it: all messages of a stage are read, then all land,
// copies among them.
func naive(p *Plan) world {
	w := world{}
	for rank := range int32(p.Spec.Ranks) {
		for tile := range p.Tiles {
			for block := range int32(blocks) {
				w[name(rank, schedule.Input, tile, block)] = fmt.Sprint("x", rank, ".", tile, ".", block)
			}
		}
	}
	for from := 0; from < len(p.Moves); {
		to := from
		for to < len(p.Moves) && p.Moves[to].Stage == p.Moves[from].Stage {
			to++
		}
		for tile := range p.Tiles {
			values := make([]string, to-from)
			for i := range values {
				m := &p.Moves[from+i]
				values[i] = w[name(m.From, m.Source.Buffer, tile, m.Source.Block)]
			}
			for i, value := range values {
				m := &p.Moves[from+i]
				if m.From == m.To {
					value = w[name(m.From, m.Source.Buffer, tile, m.Source.Block)]
				}
				if m.Add.Run > 0 {
					other := w[name(m.To, m.Add.Buffer, tile, m.Add.Block)]
					if m.AddFirst {
						value, other = other, value
					}
					value = "(" + value + "+" + other + ")"
				}
				w[name(m.To, m.Target.Buffer, tile, m.Target.Block)] = value
			}
		}
		from = to
	}
	return w
}

// carried carries out a schedule in the order of the untimed executor.
func carried(t *testing.T, s *schedule.Schedule) world {
	w, messages := world{}, map[int32]string{}
	for rank := range int32(s.Spec.Ranks) {
		for tile := range int32(100) {
			for block := range int32(blocks) {
				w[name(rank, schedule.Input, tile, block)] = fmt.Sprint("x", rank, ".", tile, ".", block)
			}
		}
	}
	_, err := schedule.Execute(s, schedule.Limits{}, schedule.Hooks{
		Step: func(v *schedule.Visit) error {
			value := ""
			for i, f := range v.Step.From {
				x := messages[v.In[i]]
				if f.Kind == schedule.Local {
					x = w[name(v.Rank, f.Region.Buffer, f.Region.Tile, f.Region.First)]
				}
				if value += x; len(v.Step.From) == 2 {
					value = [...]string{"(" + value + "+", value + ")"}[i]
				}
			}
			for _, r := range v.Step.To {
				w[name(v.Rank, r.Buffer, r.Tile, r.First)] = value
			}
			for i := range v.Step.Send {
				messages[v.Out[i]] = value
			}
			return nil
		}})
	require.NoError(t, err)
	return w
}

// blocks is how many each buffer of a random plan has.
const blocks = 3

// randomPlan moves blocks at random, but reads only what somebody has written.
func randomPlan(seed int64) Plan {
	r := rand.New(rand.NewSource(seed))
	ranks := 1 + r.Intn(4)
	p := Plan{Name: "random", Tiles: int32(1 + r.Intn(5)),
		Spec: collective.Spec{Kind: collective.Custom, Type: dtype.Int32, Op: collective.Sum,
			Ranks: ranks, Splits: make([][]int64, 2)}}
	count := int64(blocks) * int64(p.Tiles) * 2
	p.Memory = count
	for range ranks {
		p.Spec.Splits[0] = append(p.Spec.Splits[0], count)
		p.Spec.Splits[1] = append(p.Spec.Splits[1], count)
	}
	for b := range p.Cuts {
		p.Cuts[b] = schedule.Cut{{Axis: schedule.Block, Split: schedule.Even, N: blocks}}
	}
	written := map[string]bool{}
	has := func(rank int32, at Blocks) bool {
		return at.Buffer == schedule.Input || written[name(rank, at.Buffer, 0, at.Block)]
	}
	anywhere := func() Blocks { return At(schedule.Buffer(r.Intn(3)), r.Intn(blocks)) }
	stage := int32(0)
	var fresh []string
	for range r.Intn(30) {
		if r.Intn(3) == 0 {
			stage += int32(1 + r.Intn(3))
			for _, key := range fresh {
				written[key] = true
			}
			fresh = nil
		}
		m := Move{Stage: stage, From: int32(r.Intn(ranks)), To: int32(r.Intn(ranks)),
			Source: anywhere(), Target: At(schedule.Buffer(1+r.Intn(2)), r.Intn(blocks)),
			Conn: int32(r.Intn(2))}
		if add := anywhere(); r.Intn(2) == 0 && has(m.To, add) {
			m.Add, m.AddFirst = add, r.Intn(2) == 0
		}
		if has(m.From, m.Source) && !(m.From == m.To && m.Source == m.Target) {
			p.Moves = append(p.Moves, m)
			fresh = append(fresh, name(m.To, m.Target.Buffer, 0, m.Target.Block))
		}
	}
	return p
}

// TestLaws: a plan that is lowered computes what its stages say, in any order that the events
// allow (Verify finds no race); every step is found again.
func TestLaws(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(4))
	properties.Property("stages mean the same", prop.ForAll(func(seed int64) bool {
		p := randomPlan(seed)
		low, err := Lower(p)
		require.NoError(t, err)
		_, found := proof.Verify(low.Schedule, proof.Options{Iterations: 1})
		require.Empty(t, found)
		want, got := naive(&p), carried(t, low.Schedule)
		for key, value := range want {
			if got[key] != value {
				t.Logf("%s: %s, not %s", key, got[key], value)
				return false
			}
		}
		checkPlaces(t, low)
		return true
	}, gen.Int64()))
	properties.TestingRun(t)
}

// checkPlaces holds Move and Arrival to the schedule itself, step by step.
func checkPlaces(t *testing.T, low *Lowered) {
	steps := 0
	for rank := range low.Schedule.Spec.Ranks {
		p := low.Schedule.Program(rank)
		for lane := range p.Lanes() {
			var s schedule.Step
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &s)
				m, tile := low.Move(rank, lane, int(c.Step))
				require.NotNil(t, m)
				require.Equal(t, m.Stage+int32(tile), s.Round)
				switch {
				case len(s.Send) > 0:
					require.Equal(t, []int32{int32(rank), s.Send[0].Peer.Rank}, []int32{m.From, m.To})
					require.Equal(t, m.Source.Block, s.From[0].Region.First)
				default:
					require.Equal(t, int32(rank), m.To)
					require.Equal(t, m.Target.Block, s.To[0].First)
					require.EqualValues(t, tile, s.To[0].Tile)
				}
				steps++
			}
			m, _ := low.Move(rank, lane, 1<<20)
			require.Nil(t, m)
		}
	}
	for i := range low.plan.Moves {
		lane, step := low.Arrival(i)
		m, tile := low.Move(int(low.plan.Moves[i].To), lane, step)
		require.Same(t, &low.plan.Moves[i], m)
		require.Zero(t, tile)
		steps -= 2 * int(low.plan.Tiles)
		if m.From == m.To {
			steps += int(low.plan.Tiles)
		}
	}
	require.Zero(t, steps, "every move is made once for every tile")
	m, _ := low.Move(-1, 0, 0)
	require.Nil(t, m)
}
