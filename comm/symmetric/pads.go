package symmetric

import (
	"context"
	"fmt"
	"slices"
)

// padWords is the number of signals in a rank's pad, as in torch's of 2048 bytes: one for every
// rank on each of padWords / ranks channels.
const padWords = 512

// padKey identifies a word of a signal pad: that of rank to which rank from sets.
type padKey struct{ from, to, channel int }

// Channels returns the number of channels, which count from 0.
func (b *Buffer) Channels() int { return padWords / b.member.Ranks }

// Signal sets the pad of a rank on a channel. It holds one signal: a second one waits until the
// first has been awaited. Everything that this rank did before happens before the await.
func (b *Buffer) Signal(ctx context.Context, to, channel int) error {
	if err := b.check("signal", to, channel); err != nil {
		return err
	}
	return b.signal(ctx, "signal", padKey{b.member.Rank, to, channel}, b.member.release())
}

// Wait awaits the signal of a rank on a channel, and resets the pad.
func (b *Buffer) Wait(ctx context.Context, from, channel int) error {
	if err := b.check("wait", from, channel); err != nil {
		return err
	}
	m := b.member
	m.group.mu.Lock()
	m.steps++
	m.group.mu.Unlock()
	return b.wait(ctx, "wait", []int{from}, channel)
}

// Barrier signals to all other ranks on a channel and awaits the signals of all.
func (b *Buffer) Barrier(ctx context.Context, channel int) error {
	m := b.member
	if channel < 0 || channel >= b.Channels() {
		return b.wrongChannel("barrier", channel)
	}
	clock := m.release()
	var others []int
	for i := 1; i < m.Ranks; i++ {
		others = append(others, (m.Rank+i)%m.Ranks)
		pad := padKey{m.Rank, others[i-1], channel}
		if err := b.signal(ctx, "barrier", pad, clock); err != nil {
			return err
		}
	}
	slices.Reverse(others)
	return b.wait(ctx, "barrier", others, channel)
}

// check checks that a pad exists.
func (b *Buffer) check(name string, rank, channel int) error {
	if err := b.checkRank(name, rank); err != nil {
		return err
	}
	if rank == b.member.Rank {
		return b.wrong("%s: rank %d is its own peer", name, rank)
	}
	if channel < 0 || channel >= b.Channels() {
		return b.wrongChannel(name, channel)
	}
	return nil
}

func (b *Buffer) wrongChannel(name string, channel int) error {
	return b.wrong("%s: channel %d is none of 0…%d: a signal pad has %d words", name, channel,
		b.Channels()-1, padWords)
}

// pad returns a word of a signal pad; it holds the clock of the rank that has set it.
func (b *Buffer) pad(k padKey) chan []int64 {
	g := b.member.group
	g.mu.Lock()
	defer g.mu.Unlock()
	p := b.store.pads[k]
	if p == nil {
		p = make(chan []int64, 1)
		b.store.pads[k] = p
	}
	return p
}

// signal sets a pad.
func (b *Buffer) signal(ctx context.Context, name string, k padKey, clock []int64) error {
	m, g := b.member, b.member.group
	_, err := g.exchange(ctx, nil, b.pad(k), clock, func() error {
		return fmt.Errorf("%s: %s of rank %d on channel %d: rank %d has not awaited the "+
			"signal before: %w", g.key, name, m.self.Rank, k.channel, g.ranks[k.to], context.Cause(ctx))
	})
	return err
}

// wait awaits pads.
func (b *Buffer) wait(ctx context.Context, name string, from []int, channel int) error {
	m, g := b.member, b.member.group
	for i := range from {
		pad := b.pad(padKey{from[i], m.Rank, channel})
		clock, err := g.exchange(ctx, pad, nil, nil, func() error {
			var missing []int
			for _, rank := range from[i:] {
				if len(b.pad(padKey{rank, m.Rank, channel})) == 0 {
					missing = append(missing, g.ranks[rank])
				}
			}
			slices.Sort(missing)
			return fmt.Errorf("%s: %s of rank %d on channel %d: no signal of %s: %w", g.key,
				name, m.self.Rank, channel, listed(missing), context.Cause(ctx))
		})
		if err != nil {
			return err
		}
		g.acquire(m.Rank, clock)
	}
	return nil
}

// exchange receives a clock from one pad, or sends one to another; the unused one is nil. If the
// context ends first, the group ends, too, with the reason that late returns.
func (g *common) exchange(ctx context.Context, from, to chan []int64, clock []int64,
	late func() error) ([]int64, error) {
	if err := context.Cause(g.ended); err != nil {
		return nil, err
	}
	select { // even if the context has ended
	case got := <-from:
		return got, nil
	case to <- clock:
		return nil, nil
	default:
	}
	select {
	case got := <-from:
		return got, nil
	case to <- clock:
		return nil, nil
	case <-g.ended.Done():
	case <-ctx.Done():
		g.fail(late())
	}
	return nil, context.Cause(g.ended)
}

// A rank's clock has an entry for each rank: how far that rank is known to have come, counted in
// signals. These are vector clocks, after Mattern, "Virtual time and global states of distributed
// systems", 1989. An operation made at clock c of a rank happened before everything that a rank
// which knows c does.

func newClocks(ranks int) [][]int64 {
	clocks := make([][]int64, ranks)
	for i := range clocks {
		clocks[i] = make([]int64, ranks)
		clocks[i][i] = 1
	}
	return clocks
}

// release counts a signalling step and returns the clock that its signals carry. Later operations
// of the rank are not covered by it.
func (m *Member) release() []int64 {
	g := m.group
	g.mu.Lock()
	defer g.mu.Unlock()
	m.steps++
	clock := slices.Clone(g.clocks[m.Rank])
	g.clocks[m.Rank][m.Rank]++
	return clock
}

// acquire merges the clock of a signal into that of a rank.
func (g *common) acquire(rank int, clock []int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, c := range clock {
		g.clocks[rank][i] = max(g.clocks[rank][i], c)
	}
}
