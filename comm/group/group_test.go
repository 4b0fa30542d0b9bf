package group

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// joinAll has every request join in a goroutine of its own, and returns what each got.
func joinAll(r *Registry, name string, requests []Request) ([]Seat, []error) {
	seats, errs := make([]Seat, len(requests)), make([]error, len(requests))
	var wait sync.WaitGroup
	for i, q := range requests {
		wait.Go(func() { seats[i], errs[i] = r.Join(context.Background(), name, q) })
	}
	wait.Wait()
	return seats, errs
}

// members are n requests for a broadcast of 3x4 float32, rank i each, root 1.
func members(n int) []Request {
	list := make([]Request, n)
	for i := range list {
		list[i] = Request{Member: fmt.Sprintf("gpu%d", i), Rank: i, Size: n,
			Does: collective.Communication{Kind: collective.Broadcast, Type: dtype.Float32}}
	}
	list[1].Root, list[1].Does.Shape = true, collective.Shape{3, 4}
	return list
}

func TestShapeReachesAll(t *testing.T) {
	var r Registry
	seats, errs := joinAll(&r, "weights", members(4))
	for i := range seats {
		require.NoError(t, errs[i])
		require.Equal(t, Seat{Rank: i, Root: 1, Shape: collective.Shape{3, 4}, Members: members(4)},
			seats[i])
	}
	again, err := r.Join(context.Background(), "weights", members(4)[2])
	require.NoError(t, err)
	require.Equal(t, seats[2], again)
	other := members(4)[2]
	other.Does.Type = dtype.Float64
	_, err = r.Join(context.Background(), "weights", other)
	require.EqualError(t, err,
		`group "weights": gpu2 joins again with another type: float32 and float64`)
	other.Member = "gpu9"
	_, err = r.Join(context.Background(), "weights", other)
	require.EqualError(t, err,
		`group "weights": is complete with gpu0, gpu1, gpu2, gpu3; gpu9 is one too many`)
	r.Leave("weights")
	_, errs = joinAll(&r, "weights", members(3))
	require.NoError(t, errs[0])
}

// TestAssignedRanks: whoever comes first, names decide; ranks that were asked for are kept.
func TestAssignedRanks(t *testing.T) {
	for range 20 {
		var r Registry
		list := members(5)
		for _, i := range []int{0, 2, 3, 4} {
			list[i].Rank = Assign
		}
		list[0].Member, list[4].Member = "z", "a"
		for i := range list {
			list[i].Note = i
		}
		seats, errs := joinAll(&r, "g", list)
		var ranks []int
		for i := range seats {
			require.NoError(t, errs[i])
			ranks = append(ranks, seats[i].Rank)
			require.Equal(t, i, seats[0].Members[seats[i].Rank].Note)
		}
		require.Equal(t, []int{4, 1, 2, 3, 0}, ranks)
	}
}

// TestMismatch: every member gets the same error, whoever comes first, and nobody waits for ever.
// Afterwards the name can be used again.
func TestMismatch(t *testing.T) {
	broken := errors.New("its buffer is on another device")
	for _, c := range []struct {
		change func([]Request)
		want   string
	}{
		{func(l []Request) { l[2].Does.Kind = collective.Gather; l[2].Does.Shape = l[1].Does.Shape },
			"differ in kind: broadcast and gather"},
		{func(l []Request) { l[2].Size = 4 }, "differ in size: 3 and 4"},
		{func(l []Request) { l[2].Does.Type = dtype.Int32 }, "differ in type: float32 and int32"},
		{func(l []Request) { l[2].Rank = 0 }, "gpu0 (rank 0) and gpu2 (rank 0) are both rank 0"},
		{func(l []Request) { l[2].Root, l[2].Does.Shape = true, collective.Shape{3, 4} },
			"gpu1 (rank 1) and gpu2 (rank 2) are both root"},
		{func(l []Request) { l[1].Root = false }, "broadcast of gpu0, gpu1, gpu2 has no root"},
		{func(l []Request) { l[0].Does.Shape = collective.Shape{4, 3} },
			"gpu0 (rank 0) and gpu1 (rank 1) differ in shape: 4x3 and 3x4"},
		{func(l []Request) { l[1].Does.Shape = nil }, "gpu1 (rank 1) passes no shape for broadcast"},
		{func(l []Request) {
			for i := range l {
				l[i].Does = collective.Communication{Kind: collective.Barrier}
			}
		}, "gpu1 (rank 1) is root, but barrier has none"},
		{func(l []Request) { l[2].Does.Kind = 99 },
			"gpu2 (rank 2): Kind(99) is no communication"},
		{func(l []Request) { l[2].Err = broken },
			"gpu2 (rank 2) cannot take part: its buffer is on another device"},
	} {
		var r Registry
		list := members(3)
		c.change(list)
		_, errs := joinAll(&r, "g", list)
		require.ErrorContains(t, errs[0], c.want)
		for _, err := range errs {
			require.Equal(t, errs[0], err)
		}
		require.Equal(t, list[2].Err != nil, errors.Is(errs[0], broken))
		seats, errs := joinAll(&r, "g", members(3))
		require.NoError(t, errs[0])
		require.Equal(t, 1, seats[0].Root)
	}
}

// TestMissing: the wait ends with the context, and says who has not come. The name is free at once.
func TestMissing(t *testing.T) {
	var r Registry
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error, 1)
	go func() {
		_, err := r.Join(context.Background(), "g", members(4)[3])
		first <- err
	}()
	waitFor(&r, 1)
	cancel()
	_, err := r.Join(ctx, "g", members(4)[1])
	want := `group "g": 2 of 4 members have joined (gpu1, gpu3); missing rank 0, 2: context canceled`
	require.EqualError(t, err, want)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, <-first, want)
	_, errs := joinAll(&r, "g", members(4))
	require.NoError(t, errs[0])
}

// waitFor returns when there are so many groups.
func waitFor(r *Registry, groups int) {
	for there := -1; there != groups; {
		r.mu.Lock()
		there = len(r.groups)
		r.mu.Unlock()
	}
}
