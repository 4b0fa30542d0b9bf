package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/sim/simtest"
	"collsim/unit"
)

// job is a kernel of a random program.
type job struct {
	lane, round, number     int
	blocks, perSM, priority int
	takes                   unit.Time
	graph                   int
	after                   *job // on another stream, which posts
	posts                   bool
	order                   int
	issued, end             unit.Time
	left, running           int
	isReady, isOver         bool
}

// jobs is a random program: kernels on streams of one rank, with events from one to another.
func jobs(rng *rand.Rand) (lanes [][]*job, text string) {
	lanes = make([][]*job, 1+rng.IntN(4))
	var all []*job
	for range 1 + rng.IntN(12) {
		lane := rng.IntN(len(lanes))
		j := &job{lane: lane, round: rng.IntN(4), number: len(lanes[lane]), priority: rng.IntN(3),
			blocks: 1 + rng.IntN(30), perSM: 1 + rng.IntN(4), takes: unit.Time(1 + rng.IntN(5)),
			graph: max(0, rng.IntN(6)-3)}
		if len(all) > 0 && rng.IntN(3) == 0 {
			if other := all[rng.IntN(len(all))]; other.lane != lane {
				j.after, other.posts = other, true
			}
		}
		lanes[lane], all = append(lanes[lane], j), append(all, j)
	}
	text = "rank 0\n"
	for i, lane := range lanes {
		text += fmt.Sprintf("lane %d\n", i)
		for _, j := range lane {
			text += fmt.Sprintf("compute %dps", j.takes)
			if j.after != nil {
				posts := 0
				for _, other := range lanes[j.after.lane][:j.after.number+1] {
					if other.posts {
						posts++
					}
				}
				text += fmt.Sprintf(" after %d#%d", j.after.lane, posts)
			}
			if j.posts {
				text += " post"
			}
			text += fmt.Sprintf(" launch(sms blocks=%d per_sm=%d", j.blocks, j.perSM)
			if j.priority > 0 {
				text += fmt.Sprintf(" priority=%d", j.priority)
			}
			if j.graph > 0 {
				text += fmt.Sprintf(" graph=%d", j.graph)
			}
			text += fmt.Sprintf(") @%d\n", j.round)
		}
	}
	return lanes, text
}

// times are what a device takes.
type times struct{ launch, latency, graph, node, event unit.Time }

// naive simulates a program block by block: every SM has a list of the blocks that it has, and at
// every picosecond it is looked at what has ended, what can begin and where there is a place.
func naive(lanes [][]*job, sms, most int, takes times) {
	var all []*job
	for _, lane := range lanes {
		all = append(all, lane...)
	}
	slices.SortStableFunc(all, func(a, b *job) int {
		return cmp.Or(a.round-b.round, a.lane-b.lane, a.number-b.number)
	})
	host, graphs := unit.Time(0), map[int]unit.Time{}
	for i, j := range all {
		j.order, j.left, j.perSM = i, j.blocks, min(j.perSM, most)
		switch issued, known := graphs[j.graph]; {
		case j.graph == 0:
			host += takes.launch
			j.issued = host
		case known:
			j.issued = issued
		default:
			host += takes.graph
			j.issued, graphs[j.graph] = host, host
		}
	}
	type block struct {
		job *job
		end unit.Time
	}
	on := make([][]block, sms)
	for now, over := unit.Time(0), 0; over < len(all); now++ {
		for k := range on {
			on[k] = slices.DeleteFunc(on[k], func(b block) bool {
				if b.end != now {
					return false
				}
				if b.job.running--; b.job.running == 0 && b.job.left == 0 {
					b.job.isOver, b.job.end = true, now
					over++
				}
				return true
			})
		}
		var waiting []*job
		for _, j := range all {
			if j.isReady = j.isReady || canBegin(lanes, j, now, takes); j.isReady && j.left > 0 {
				waiting = append(waiting, j)
			}
		}
		slices.SortStableFunc(waiting, func(a, b *job) int {
			return cmp.Or(b.priority-a.priority, a.order-b.order)
		})
		for len(waiting) > 0 {
			j, best, bestFree := waiting[0], -1, 0
			for k := range on { // a twelfth of an SM is the unit
				free := 12
				for _, b := range on[k] {
					free -= 12 / b.job.perSM
				}
				if free >= 12/j.perSM && free > bestFree {
					best, bestFree = k, free
				}
			}
			if best < 0 {
				break
			}
			on[best] = append(on[best], block{j, now + j.takes})
			j.running++
			if j.left--; j.left == 0 {
				waiting = waiting[1:]
			}
		}
	}
}

// canBegin reports whether a job has come to its device, and all before it is over.
func canBegin(lanes [][]*job, j *job, now unit.Time, takes times) bool {
	if now < j.issued+takes.latency {
		return false
	}
	if j.number > 0 {
		before, gap := lanes[j.lane][j.number-1], unit.Time(0)
		if j.graph > 0 && before.graph == j.graph {
			gap = takes.node
		}
		if !before.isOver || now < before.end+gap {
			return false
		}
	}
	return j.after == nil || j.after.isOver && now >= j.after.end+takes.event
}

// TestDispatchAgainstNaive: lanes of random programs end, to the picosecond, when an evaluator says
// that simulates them block by block.
func TestDispatchAgainstNaive(t *testing.T) {
	crowded := 0
	simtest.Law(t, 4500, "the naive evaluator agrees", func(t testing.TB, rng *rand.Rand) bool {
		lanes, text := jobs(rng)
		sms, most := 1+rng.IntN(6), 1+rng.IntN(4)
		takes := times{unit.Time(rng.IntN(3)), unit.Time(rng.IntN(4)), unit.Time(rng.IntN(3)),
			unit.Time(rng.IntN(3)), unit.Time(rng.IntN(3))}
		env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
		env.Device = onGPU(t)
		d := &env.Device
		d.GPU.SMs, d.GPU.BlocksPerSM, d.Launch = sms, most, takes.launch
		d.GPU.LaunchLatency, d.GPU.GraphLaunch = takes.latency, takes.graph
		d.GPU.GraphNode, d.GPU.EventLatency = takes.node, takes.event
		env.Sharing = Sharing(rng.IntN(2))
		r, err := Run(program(t, 1, text), env, Options{Critical: true})
		naive(lanes, sms, most, takes)
		require.NoError(t, err, text)
		for i, lane := range lanes {
			end := unit.Time(0)
			if len(lane) > 0 {
				end = lane[len(lane)-1].end
				if slices.ContainsFunc(lane, func(j *job) bool { return j.blocks > sms*j.perSM }) {
					crowded++
				}
			}
			require.Equal(t, end, r.LaneEnd[i], "lane %d of\n%s", i, text)
		}
		requirePath(t, r.Time, r.Critical)
		return true
	})
	require.Greater(t, crowded, tier.Raced(30, 30, 300), "kernels of several waves")
}
