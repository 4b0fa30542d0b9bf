package group

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestEverythingIsCompared: two members that differ in any attribute of what they are about to do
// hear of it, with both ranks and both values. A new attribute has to be put here.
func TestEverythingIsCompared(t *testing.T) {
	base := func() collective.Communication {
		return collective.Communication{Kind: collective.ReduceScatterV, Op: collective.PremulSum,
			Factor: 2, Type: dtype.Float32, Team: []int{4, 7}, Shape: collective.Shape{6, 5},
			Splits: [][]int64{{2, 4}}}
	}
	others := map[string]collective.Communication{ // of attributes that mean nothing there
		"Avg": {Kind: collective.AllReduce, Op: collective.Avg, Team: []int{4, 7},
			Shape: collective.Shape{6}},
		"Root": {Kind: collective.Broadcast, Team: []int{4, 7}, Root: 4, Shape: collective.Shape{6}},
	}
	type comm = *collective.Communication
	changes := map[string]struct {
		change           func(comm)
		what, mine, your string
	}{
		"Kind": {func(c comm) { c.Kind, c.Splits = collective.ReduceScatter, nil }, "kind",
			"reduce_scatterv", "reduce_scatter"},
		"Op": {func(c comm) { c.Op, c.Factor = collective.Avg, 0 }, "operator", "premulsum",
			"avg"},
		"Avg":      {func(c comm) { c.Avg = collective.AvgPost }, "average", "nccl", "post"},
		"Factor":   {func(c comm) { c.Factor = 2.5 }, "factor", "2", "2.5"},
		"Type":     {func(c comm) { c.Type = dtype.Float64 }, "type", "float32", "float64"},
		"Team":     {func(c comm) { c.Team = []int{4, 5} }, "team[1]", "7", "5"},
		"Root":     {func(c comm) { c.Root = 7 }, "root", "4", "7"},
		"Shape":    {func(c comm) { c.Shape = collective.Shape{5, 6} }, "shape", "6x5", "5x6"},
		"Axis":     {func(c comm) { c.Axis = 1 }, "axis", "0", "1"},
		"Splits":   {func(c comm) { c.Splits = [][]int64{{3, 3}} }, "splits[0][0]", "2", "3"},
		"InPlace":  {func(c comm) { c.InPlace = true }, "in_place", "false", "true"},
		"Disabled": {func(c comm) { c.Disabled = true }, "disabled", "false", "true"},
		"Concat":   {}, // of all_to_all alone: below
	}
	fields := reflect.TypeFor[collective.Communication]()
	require.Len(t, changes, fields.NumField())
	for i := range fields.NumField() {
		c := changes[fields.Field(i).Name]
		a, b := base(), base()
		if other, apart := others[fields.Field(i).Name]; apart {
			a, b = other, other
		}
		if c.change == nil {
			a = collective.Communication{Kind: collective.AllToAll, Type: dtype.Int8,
				Shape: collective.Shape{2, 2}}
			b, c.what, c.mine, c.your = a, "concat", "0", "1"
			b.Concat = 1
		} else {
			c.change(&b)
		}
		var r Registry
		list := []Request{{Member: "a", Rank: 0, Size: 2, Does: a},
			{Member: "b", Rank: 1, Size: 2, Does: b}}
		_, errs := joinAll(&r, "g", list)
		require.Equal(t, errs[0], errs[1])
		var m *Mismatch
		require.ErrorAs(t, errs[0], &m, fields.Field(i).Name)
		require.Equal(t, &Mismatch{c.what, [2]string{"a (rank 0)", "b (rank 1)"},
			[2]string{c.mine, c.your}}, m)
	}
}

// TestShapesFitTogether: what only all shapes together tell.
func TestShapesFitTogether(t *testing.T) {
	ask := func(c collective.Communication, shapes ...collective.Shape) error {
		var r Registry
		list := make([]Request, len(shapes))
		for i := range list {
			list[i] = Request{Member: fmt.Sprint(i), Rank: i, Size: len(shapes), Does: c}
			list[i].Does.Shape = shapes[i]
		}
		_, errs := joinAll(&r, "g", list)
		for _, err := range errs {
			require.Equal(t, errs[0], err)
		}
		return errs[0]
	}
	v := collective.Communication{Kind: collective.AllGatherV, Splits: [][]int64{{1, 3}}}
	require.NoError(t, ask(v, collective.Shape{1, 5}, collective.Shape{3, 5}))
	require.ErrorContains(t, ask(v, collective.Shape{1, 5}, collective.Shape{2, 5}),
		"rank 1 has length 2 on axis 0, its split is 3")
	require.ErrorContains(t, ask(v, collective.Shape{1, 5}, collective.Shape{3, 6}),
		"differ in shape: ")
	s := collective.Communication{Kind: collective.ReduceScatter, Op: collective.Sum}
	require.ErrorContains(t, ask(s, collective.Shape{5}, collective.Shape{5}),
		"axis 0 of length 5 cannot be divided into 2 parts")
	require.ErrorContains(t, ask(collective.Communication{Kind: collective.Barrier}, nil,
		collective.Shape{1}), "shape 1 has no effect on barrier")
	s.Axis = 2
	require.ErrorContains(t, ask(s, collective.Shape{4}, collective.Shape{4}), "which has 1 axes")
}

// TestAbsurdSizes: a size that is none is refused to its member alone, without memory for it, and
// nobody else is kept from the registry.
func TestAbsurdSizes(t *testing.T) {
	var r Registry
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, size := range []int{math.MinInt, -1, 0, MaxSize + 1, 1 << 62, math.MaxInt} {
		q := members(2)[0]
		q.Size = size
		_, err := r.Join(ended, "g", q)
		require.EqualError(t, err, fmt.Sprintf(`group "g": gpu0: a group of %d: 1 to 1048576 members `+
			`are expected`, size))
	}
	for _, rank := range []int{-2, 2, 1 << 62} {
		q := members(2)[0]
		q.Rank = rank
		_, err := r.Join(ended, "g", q)
		require.EqualError(t, err, fmt.Sprintf(`group "g": gpu0: rank %d is none of 0…1`, rank))
	}
	require.Empty(t, r.groups)
	_, errs := joinAll(&r, "g", members(2))
	require.NoError(t, errs[0])
	q := members(2)[0]
	q.Size = MaxSize // in words, not in a list of a million
	_, err := r.Join(ended, "large", q)
	require.EqualError(t, err, `group "large": 1 of 1048576 members have joined (gpu0); missing rank `+
		`1, 2, 3, 4, 5, 6, 7, 8 and 1048567 more: context canceled`)
}

// bomb is a context that panics when it is asked why it has ended, or how to know.
type bomb struct {
	context.Context
	early bool
}

func (b bomb) Done() <-chan struct{} {
	if b.early {
		panic("done")
	}
	ended := make(chan struct{})
	close(ended)
	return ended
}

func (b bomb) Err() error                     { panic("err") }
func (b bomb) Value(any) any                  { panic("value") }
func (bomb) Deadline() (t time.Time, ok bool) { return t, false }

// TestPanic: a member that panics takes nobody with it but those who would wait for it, and they
// hear of it.
func TestPanic(t *testing.T) {
	var r Registry
	require.Panics(t, func() { _, _ = r.Join(bomb{early: true}, "g", members(2)[0]) })
	require.Empty(t, r.groups)
	other := make(chan error, 1)
	go func() {
		_, err := r.Join(context.Background(), "g", members(3)[1])
		other <- err
	}()
	waitFor(&r, 1)
	require.Panics(t, func() { _, _ = r.Join(bomb{}, "g", members(3)[0]) })
	require.EqualError(t, <-other, `group "g": 2 of 3 members have joined (gpu0, gpu1); `+
		`missing rank 2: gpu0 has panicked`)
	_, errs := joinAll(&r, "g", members(3))
	require.NoError(t, errs[2])
}

// TestLate: who comes after a mismatch hears of it; who knows of it begins anew.
func TestLate(t *testing.T) {
	var r Registry
	list := members(3)
	list[2].Does.Type = dtype.Int32
	_, errs := joinAll(&r, "g", list[1:])
	require.Error(t, errs[0])
	_, late := r.Join(context.Background(), "g", list[0])
	require.Equal(t, errs[0], late)
	require.Empty(t, r.groups, "all have heard of it")

	_, errs = joinAll(&r, "g", list[1:])
	require.Error(t, errs[0])
	_, errs = joinAll(&r, "h", members(3)) // other names are not touched
	require.NoError(t, errs[0])
	anew := make(chan error, 1)
	go func() {
		_, err := r.Join(context.Background(), "g", members(3)[2])
		anew <- err
	}()
	for { // until the failed group has made room
		r.mu.Lock()
		fresh := r.groups["g"].err == nil
		r.mu.Unlock()
		if fresh {
			break
		}
	}
	_, errs = joinAll(&r, "g", members(3)[:2])
	require.NoError(t, errs[0])
	require.NoError(t, <-anew)
}

// TestContextReachesAll: whoever's context ends, all who wait are told its cause, and Leave tells
// them, too.
func TestContextReachesAll(t *testing.T) {
	var r Registry
	stopped := errors.New("the job was stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	errs := make(chan error, 3)
	for i, c := range []context.Context{context.Background(), ctx, context.Background()} {
		go func() {
			_, err := r.Join(c, "g", members(4)[i])
			errs <- err
		}()
	}
	for joined := 0; joined < 3; {
		r.mu.Lock()
		if g := r.groups["g"]; g != nil {
			joined = len(g.members)
		}
		r.mu.Unlock()
	}
	cancel(stopped)
	for range 3 {
		err := <-errs
		require.ErrorIs(t, err, stopped)
		require.ErrorContains(t, err, "missing rank 3")
	}
	go func() {
		_, err := r.Join(context.Background(), "g", members(4)[0])
		errs <- err
	}()
	waitFor(&r, 1)
	r.Leave("g")
	require.EqualError(t, <-errs, `group "g": 1 of 4 members have joined (gpu0); `+
		`missing rank 1, 2, 3: it was left`)
	require.Empty(t, r.groups)
}

// TestManyNamesInAnError: an error names a few of many.
func TestManyNamesInAnError(t *testing.T) {
	var r Registry
	list := make([]Request, 40)
	for i := range list {
		list[i] = Request{Member: fmt.Sprintf("gpu%02d", i), Rank: i, Size: 40,
			Does: collective.Communication{Kind: collective.Broadcast, Type: dtype.Int8}}
	}
	_, errs := joinAll(&r, "g", list)
	require.EqualError(t, errs[0], `group "g": broadcast of gpu00, gpu01, gpu02, gpu03, gpu04, `+
		`gpu05, gpu06, gpu07 and 32 more has no root`)
}

// TestOnce: of a name that stands for one meeting, who comes late is told whatever the group has
// failed of; nothing of it is left when all have come, whether it went well or not.
func TestOnce(t *testing.T) {
	var r Registry
	list := members(3)
	for i := range list {
		list[i].Once = true
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, first := r.Join(ended, "g#1", list[0])
	require.ErrorIs(t, first, context.Canceled)
	_, again := r.Join(context.Background(), "g#1", list[0])
	require.Equal(t, first, again)
	for _, q := range list[1:] {
		_, late := r.Join(context.Background(), "g#1", q)
		require.Equal(t, first, late)
	}
	require.Empty(t, r.groups)
	_, errs := joinAll(&r, "g#2", list)
	require.NoError(t, errs[0])
	require.Empty(t, r.groups)
}

// TestMissingOfATeam: who of a team has not come is named as the world numbers its ranks.
func TestMissingOfATeam(t *testing.T) {
	var r Registry
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := r.Join(ended, "g", Request{Member: "rank 7 of the world", Rank: 1, Size: 3,
		Does: collective.Communication{Kind: collective.Barrier, Team: []int{4, 7, 9}}})
	require.EqualError(t, err, `group "g": 1 of 3 members have joined (rank 7 of the world); `+
		`missing rank 4, 9 of the world: context canceled`)
	_, err = r.Join(ended, "g", Request{Member: "a", Size: 3, Once: true, // a team that cannot be
		Does: collective.Communication{Kind: collective.Barrier, Team: []int{4}}})
	require.ErrorContains(t, err, "team")
	r.Leave("g")
}
