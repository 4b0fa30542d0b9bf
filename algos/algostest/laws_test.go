package algostest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/internal/tier"
	"collsim/proof"
)

// subject is an algorithm and one of its kinds.
type subject struct {
	algos.Algorithm
	kind collective.Kind
}

func subjects() []subject {
	var list []subject
	for _, a := range algos.Table() {
		for _, k := range a.Kinds {
			list = append(list, subject{a, k})
		}
	}
	return list
}

// draw is a random trial: splits have any sizes, a third of them none.
func draw(s subject, ranks, count, turn int, options [3]int) trial {
	c := trial{spec: specOf(s.kind, ranks, int64(count), turn), turn: turn}
	if s.kind.Rooted() {
		c.spec.Root = turn % ranks
	}
	c.spec.InPlace = turn%3 == 0 && hasPlace(s.kind)
	random := rand.New(rand.NewPCG(uint64(turn), uint64(count)))
	for _, row := range c.spec.Splits {
		for i := range row {
			row[i] = max(0, random.Int64N(int64(count)+2)-int64(count)/3)
		}
	}
	if s.Plan == nil { // what writes its whole plan has neither
		c.options = algos.Options{Channels: options[0], Slices: options[1]}
	}
	if len(s.Params) > 0 && s.Params[0].Name == "segment" {
		c.options.Params = []algos.Param{{Name: "segment", Value: fmt.Sprint(8 * (1 + options[2]))}}
	}
	return c
}

// recorder takes the place of a test, so that a law fails without ending it.
type recorder struct{ text string }

func (r *recorder) Errorf(format string, args ...any) { r.text = fmt.Sprintf(format, args...) }
func (r *recorder) FailNow()                          { panic(r) }

// holds runs a check and returns what it complains about.
func holds(check func(t require.TestingT)) (text string) {
	r := &recorder{}
	defer func() {
		if failed := recover(); failed != nil && failed != any(r) {
			panic(failed)
		}
		text = r.text
	}()
	check(r)
	return r.text
}

// TestLaws tries random algorithms, ranks, counts, splits, roots and modifiers.
func TestLaws(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(20_251_121)
	parameters.MinSuccessfulTests = tier.Raced(20, 30, 300)
	laws := gopter.NewProperties(parameters)
	all := subjects()
	ranks, count, turn := gen.IntRange(1, 24), gen.IntRange(0, 400), gen.IntRange(0, 1_000_000)
	copies := gen.IntRange(1, 4)
	which, segment := gen.IntRange(0, len(all)-1), gen.IntRange(1, 100)

	laws.Property("every schedule conforms", prop.ForAll(
		func(i, ranks, count, turn, channels, slices, segment int) string {
			c := draw(all[i], ranks, count, turn, [3]int{channels, slices, segment})
			return holds(func(t require.TestingT) { conform(t, all[i].Algorithm, c) })
		}, which, ranks, count, turn, copies, copies, segment))

	laws.Property("modifiers move no byte more", prop.ForAll(
		func(i, ranks, count, turn, channels, slices, segment int) bool {
			c := draw(all[i], ranks, count, turn, [3]int{channels, slices, segment})
			if cut := all[i].Chunks; cut != nil && all[i].Group == nil {
				// Some chunks may travel further than others: all channels must cut them alike.
				c.spec.Count -= c.spec.Count % int64(cut(ranks)*channels)
			}
			plain := trial{spec: c.spec}
			plain.spec.InPlace = false
			return sent(all[i], c) == sent(all[i], plain)
		}, which, ranks, count, turn, copies, copies, segment))

	laws.Property("all roots cost the same bytes", prop.ForAll(
		func(i, ranks, count, turn, channels int) bool {
			c := draw(all[i], ranks, count, turn, [3]int{channels, 1, 100})
			if !all[i].kind.Rooted() {
				return true
			}
			first := c
			first.spec.Root = 0
			return sent(all[i], c) == sent(all[i], first)
		}, which, ranks, count, turn, copies))

	laws.TestingRun(t)
}

// sent is the number of bytes that a trial sends, −1 if it is not proven.
func sent(s subject, c trial) int64 {
	built, err := s.Build(c.spec, c.options)
	if err != nil {
		return -1
	}
	proven, violations := proof.Verify(built, proof.Options{})
	if len(violations) > 0 {
		return -1
	}
	return proven.BytesSent
}
