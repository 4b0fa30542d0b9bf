package group

import (
	"context"
	"fmt"
	"strings"
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
		wait.Add(1)
		go func() {
			defer wait.Done()
			seats[i], errs[i] = r.Join(context.Background(), name, q)
		}()
	}
	wait.Wait()
	return seats, errs
}

// members are n requests for a broadcast of 12 elements, rank i each, root 1.
func members(n int) []Request {
	list := make([]Request, n)
	for i := range list {
		list[i] = Request{Member: fmt.Sprintf("gpu%d", i), Rank: i, Size: n, Kind: collective.Broadcast,
			Type: dtype.Float32, Count: -1}
	}
	list[1].Root, list[1].Count, list[1].Shape = true, 12, collective.Shape{3, 4}
	return list
}

func TestShapeReachesAll(t *testing.T) {
	var r Registry
	seats, errs := joinAll(&r, "weights", members(4))
	for i := range seats {
		require.NoError(t, errs[i])
		require.Equal(t, Seat{Rank: i, Root: 1, Count: 12, Shape: collective.Shape{3, 4}}, seats[i])
	}
	again, err := r.Join(context.Background(), "weights", members(4)[2])
	require.NoError(t, err)
	require.Equal(t, seats[2], again)
	other := members(4)[2]
	other.Type = dtype.Float64
	_, err = r.Join(context.Background(), "weights", other)
	require.EqualError(t, err, `group "weights": member gpu2 joins again, with another request`)
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
		seats, errs := joinAll(&r, "g", list)
		var ranks []int
		for i := range seats {
			require.NoError(t, errs[i])
			ranks = append(ranks, seats[i].Rank)
		}
		require.Equal(t, []int{4, 1, 2, 3, 0}, ranks)
	}
}

// TestMismatch: every member gets the same error, and nobody waits for ever.
func TestMismatch(t *testing.T) {
	for _, c := range []struct {
		change func([]Request)
		want   []string // whoever comes first
	}{
		{func(l []Request) { l[2].Kind, l[2].Count = collective.AllReduce, 12 },
			[]string{"want different kinds: broadcast and all_reduce",
				"want different kinds: all_reduce and broadcast"}},
		{func(l []Request) { l[2].Size = 4 }, []string{"want groups of different sizes: 3 and 4",
			"want groups of different sizes: 4 and 3"}},
		{func(l []Request) { l[2].Type = dtype.Int32 }, []string{
			"have different types: float32 and int32", "have different types: int32 and float32"}},
		{func(l []Request) { l[2].Rank = 0 }, []string{
			"gpu0 (rank 0) and gpu2 (rank 0) are both rank 0",
			"gpu2 (rank 0) and gpu0 (rank 0) are both rank 0"}},
		{func(l []Request) { l[2].Root, l[2].Count = true, 12 }, []string{
			"gpu1 (rank 1) and gpu2 (rank 2) are both root",
			"gpu2 (rank 2) and gpu1 (rank 1) are both root"}},
		{func(l []Request) { l[1].Root, l[1].Count = false, -1 },
			[]string{"broadcast of gpu0, gpu1, gpu2 has no root"}},
		{func(l []Request) { l[0].Count = 11 },
			[]string{"have different counts: 11 and 12", "have different counts: 12 and 11"}},
		{func(l []Request) { l[0].Rank = 3 }, []string{"gpu0: rank 3 is none of 0…2"}},
		{func(l []Request) { l[1].Count = -1 }, []string{"gpu1: count -1"}},
		{func(l []Request) { l[2].Kind, l[2].Root = collective.AllReduce, true },
			[]string{"gpu2 is root, but all_reduce has none", "want different kinds"}},
	} {
		var r Registry
		list := members(3)
		c.change(list)
		_, errs := joinAll(&r, "g", list)
		for _, err := range errs {
			require.Error(t, err)
			require.Equal(t, errs[0], err)
		}
		found := false
		for _, want := range c.want {
			found = found || strings.Contains(errs[0].Error(), want)
		}
		require.True(t, found, "%v is none of %q", errs[0], c.want)
	}
}

// TestMissing: the wait ends with the context, and says who has not come.
func TestMissing(t *testing.T) {
	var r Registry
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error, 1)
	go func() {
		_, err := r.Join(context.Background(), "g", members(4)[3])
		first <- err
	}()
	for { // until the first is in
		r.mu.Lock()
		n := len(r.groups)
		r.mu.Unlock()
		if n == 1 {
			break
		}
	}
	cancel()
	_, err := r.Join(ctx, "g", members(4)[1])
	want := `group "g": 2 of 4 members have joined (gpu1, gpu3); missing rank 0, 2: context canceled`
	require.EqualError(t, err, want)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, <-first, want)
}
