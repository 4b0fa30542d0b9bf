package comm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/comm"
	"collsim/schedule"
)

// vector is a tensor of int32.
func vector(values ...int32) comm.Tensor {
	return comm.Of(collective.Shape{int64(len(values))}, values...)
}

// one are a rank's tensors for an all-reduce of so many elements.
func one(values ...int32) comm.Tensors {
	return comm.Tensors{In: []comm.Tensor{vector(values...)},
		Out: []comm.Tensor{vector(make([]int32, len(values))...)}}
}

// TestChecked: what is wrong with a rank's buffers is said before anything moves, the other ranks
// are told, and the name can be used again.
func TestChecked(t *testing.T) {
	memory := vector(1, 2, 3, 4, 5, 6, 7, 8)
	float := comm.Of(collective.Shape{2}, float32(1), 2)
	long := vector(1, 2)
	long.Data = append(long.Data, 0)
	for _, c := range []struct {
		text    string
		in, out []comm.Tensor
		want    string
	}{
		{"all_reduce int32 sum shape 2", nil, one(1, 2).Out,
			"all_reduce: rank 1 takes 1 source buffers, not 0"},
		{"all_reduce int32 sum shape 2", one(1, 2).In, nil,
			"all_reduce: rank 1 takes 1 destination buffers, not 0"},
		{"all_gather int32 shape 2", one(1, 2).In, []comm.Tensor{memory, memory, memory},
			"all_gather: rank 1 takes 2 destination buffers, not 3"},
		{"broadcast int32 shape 2 root 0", one(1, 2).In, one(1, 2).Out,
			"broadcast: non-root rank 1 takes 0 source buffers, not 1"},
		{"reduce int32 sum shape 2 root 0", one(1, 2).In, one(1, 2).Out,
			"reduce: non-root rank 1 takes 0 destination buffers, not 1"},
		{"gather int32 shape 2 root 1", one(1, 2).In, nil,
			"gather: root 1 takes 2 destination buffers, not 0"},
		{"all_reduce int32 sum shape 2", []comm.Tensor{float}, one(1, 2).Out,
			"all_reduce is declared on int32, but rank 1 passes float32"},
		{"all_reduce int32 sum shape 2", one(1, 2).In, []comm.Tensor{float},
			"all_reduce is declared on int32, but rank 1 passes float32"},
		{"all_reduce int32 sum shape 2", one(1, 2, 3).In, one(1, 2).Out,
			"all_reduce: source buffer 0 has shape 3: 2 is expected"},
		{"all_gather int32 shape 2", one(1, 2).In, one(1, 2, 3).Out,
			"all_gather: destination buffer 0 has shape 3: 4 is expected"},
		{"all_reduce int32 sum shape 2", []comm.Tensor{long}, one(1, 2).Out,
			"all_reduce: source buffer 0 has 9 bytes: 8 are expected for int32 of shape 2"},
		{"all_reduce int32 sum shape 2", []comm.Tensor{memory.Rows(0, 2)},
			[]comm.Tensor{memory.Rows(1, 2)}, "all_reduce: the input of rank 1 overlaps its " +
				"output and begins -1 elements from it; in place it begins at +0, otherwise they must lie " +
				"apart"},
		{"all_reduce int32 sum shape 2", []comm.Tensor{memory.Rows(0, 2)},
			[]comm.Tensor{memory.Rows(0, 2)},
			"all_reduce: input and output overlap, which is not declared in_place"},
		{"all_reduce int32 sum shape 2 in_place", []comm.Tensor{memory.Rows(0, 2)},
			[]comm.Tensor{memory.Rows(2, 2)},
			"all_reduce is declared in_place, but input and output lie apart"},
		{"all_gather int32 shape 2 in_place", []comm.Tensor{memory.Rows(0, 2)},
			[]comm.Tensor{memory.Rows(0, 4)}, "all_gather: the input of rank 1 overlaps its " +
				"output and begins +0 elements from it; in place it begins at +2, otherwise they must lie " +
				"apart"},
		{"all_gather int32 shape 2", []comm.Tensor{vector(1, 2)},
			[]comm.Tensor{memory.Rows(0, 2), memory.Rows(1, 2)},
			"all_gather: destination buffers 0 and 1 overlap"},
		{"all_to_allv int32 shape 2 splits 1,1/1,1", []comm.Tensor{memory.Rows(0, 2)},
			[]comm.Tensor{memory.Rows(0, 2)}, "all_to_allv: input and output of rank 1 " +
				"overlap; they must lie apart"},
		{"all_gather int32 shape 2x1 axis 1 in_place", []comm.Tensor{shaped(memory.Rows(1, 2), 2, 1)},
			[]comm.Tensor{shaped(memory.Rows(0, 4), 2, 2)}, "all_gather: input and output overlap, and " +
				"their blocks do not lie one behind the other: they must lie apart"},
		{"all_reduce int32 sum", one(1, 2).In, one(1, 2).Out, "all_reduce has no shape yet"},
	} {
		executed := 0
		w, err := comm.New(2, func(ctx context.Context, s *schedule.Schedule, in [][]byte) ([][]byte,
			error) {
			executed++
			return interpreter(ctx, s, in)
		}, nil)
		require.NoError(t, err)
		does := parse(t, c.text)
		_, errs := together(2, func(rank int) *comm.Handle {
			m := w.Member(rank, "x", does)
			if rank == 0 {
				return m.Post(context.Background(), right(&does))
			}
			return m.Post(context.Background(), comm.Tensors{In: c.in, Out: c.out})
		})
		require.EqualError(t, errs[1], `"x": rank 1: `+c.want)
		if does.Shape != nil {
			require.EqualError(t, errs[0], `group "x#0": rank 1 cannot take part: `+c.want)
		}
		require.Zero(t, executed)
		sum := parse(t, "all_reduce int32 sum shape 2")
		_, errs = together(2, func(rank int) *comm.Handle {
			return w.Member(rank, "x", sum).Post(context.Background(), one(1, 2))
		})
		require.NoError(t, errors.Join(errs...))
		require.Equal(t, 1, executed)
	}
}

// right are tensors as rank 0 must pass them.
func right(c *collective.Communication) (t comm.Tensors) {
	if c.Shape == nil {
		return t
	}
	in, out := c.Blocks(0, 2)
	for _, shape := range in {
		t.In = append(t.In, comm.Of[int32](shape))
	}
	for _, shape := range out {
		t.Out = append(t.Out, comm.Of[int32](shape))
	}
	if c.InPlace && c.Kind == collective.AllReduce {
		t.Out = t.In
	} else if c.InPlace {
		t.In = t.Out[:1]
	}
	return t
}

func shaped(t comm.Tensor, shape ...int64) comm.Tensor {
	t.Shape = shape
	return t
}

// TestAliases walks an output past an input: legal is apart, or in place where that is declared.
func TestAliases(t *testing.T) {
	w := world(t, 2)
	for _, c := range []struct {
		text    string
		in, out int64
		place   int64 // of the output, seen from the input, on rank 1
	}{
		{"all_reduce int32 sum shape 3", 3, 3, 0}, {"all_gather int32 shape 3", 3, 6, -3},
		{"reduce_scatter int32 sum shape 6", 6, 3, 3}, {"all_to_all int32 shape 6", 6, 6, 0},
		{"broadcast int32 shape 3 root 1", 3, 3, 0}, {"gather int32 shape 3 root 1", 3, 6, -3},
	} {
		for _, inPlace := range []bool{false, true} {
			for off := int64(-8); off <= 8; off++ {
				memory := comm.Of[int32](collective.Shape{24})
				does := parse(t, c.text)
				does.InPlace = inPlace
				ctx, cancel := context.WithCancel(context.Background())
				cancel() // nobody else comes
				_, err := w.Member(1, fmt.Sprint(c.text, inPlace, off), does).Post(ctx, comm.Tensors{
					In:  []comm.Tensor{memory.Rows(8, c.in)},
					Out: []comm.Tensor{memory.Rows(8+off, c.out)}}).Wait()
				legal := (off >= c.in || -off >= c.out) && !inPlace || off == c.place && inPlace
				require.Equal(t, legal, errors.Is(err, context.Canceled), "%s in place %v at %d: %v", c.text,
					inPlace, off, err)
			}
		}
	}
}

// TestRanksShareNoOutput: the outputs of two ranks of a process in one memory are refused.
func TestRanksShareNoOutput(t *testing.T) {
	w, shared := world(t, 3), vector(0, 0, 0)
	_, errs := together(3, func(rank int) *comm.Handle {
		out := []comm.Tensor{shared.Rows(0, 2), vector(0, 0), shared.Rows(1, 2)}[rank]
		return w.Member(rank, "x", parse(t, "all_reduce int32 sum shape 2")).Post(context.Background(),
			comm.Tensors{In: one(1, 2).In, Out: []comm.Tensor{out}})
	})
	for _, err := range errs {
		require.EqualError(t, err,
			`"x": destination buffers of the ranks at places 0 and 2 overlap`)
	}
}

// TestMismatches: ranks that mean different things are all told, with both ranks and both values,
// whoever comes first, those that come late included.
func TestMismatches(t *testing.T) {
	const sum = "all_reduce int32 sum shape 2"
	bases := map[string]string{ // of attributes that mean nothing there
		"all_reduce int32 avg average post shape 2": "all_reduce int32 avg shape 2",
		"all_gather int32 shape 2x2 axis 1":         "all_gather int32 shape 2x2",
	}
	for text, want := range map[string]string{
		"all_gather int32 shape 2":                  "kind: all_reduce and all_gather",
		"all_reduce int32 max shape 2":              "operator: sum and max",
		"all_reduce int32 avg average post shape 2": "average: nccl and post",
		"all_reduce uint32 sum shape 2":             "type: int32 and uint32",
		"all_reduce int32 sum shape 2x1":            "shape: 2 and 2x1",
		"all_reduce int32 sum shape 2 in_place":     "in_place: false and true",
		"all_gather int32 shape 2x2 axis 1":         "axis: 0 and 1",
		"all_reduce int32 sum shape 2 team 1,2":     "size: 3 and 2",
		"all_reduce int32 sum shape 2 team 0,1,2":   "length of team: none and 3",
	} {
		w := world(t, 3)
		does := parse(t, text)
		base, apart := bases[text]
		if !apart {
			base = sum
		}
		tensorsOf := func(c collective.Communication) (tensors comm.Tensors) {
			in, out := c.Blocks(0, 3)
			tensors.In = []comm.Tensor{comm.Of[int32](in[0])}
			for i := range out {
				tensors.Out = append(tensors.Out, comm.Of[int32](out[i]))
			}
			if c.InPlace {
				tensors.Out = tensors.In
			}
			for _, list := range [][]comm.Tensor{tensors.In, tensors.Out} {
				for i := range list {
					list[i].Type = c.Type
				}
			}
			return tensors
		}
		_, errs := together(2, func(rank int) *comm.Handle {
			c := parse(t, base)
			if rank == 1 {
				c = does
			}
			return w.Member(rank, "x", c).Post(context.Background(), tensorsOf(c))
		})
		c := parse(t, base)
		_, late := w.Member(2, "x", c).Post(context.Background(), tensorsOf(c)).Wait()
		who := "rank 0 and rank 1"
		if does.Team != nil {
			who = fmt.Sprintf("rank 0 and rank 1 of the world (rank %d)", slices.Index(does.Team, 1))
		}
		want = fmt.Sprintf(`group "x#0": %s differ in %s`, who, want)
		require.EqualError(t, errs[0], want)
		require.Equal(t, errs[0], errs[1], text)
		require.Equal(t, errs[0], late, text)
	}
}

// TestNoPlace: a rank that is in no team has nobody to tell; sizes that are none are refused.
func TestNoPlace(t *testing.T) {
	w := world(t, 3)
	_, err := w.Member(2, "x", parse(t, "all_reduce int32 sum shape 2 team 0,1")).Post(
		context.Background(), one(1, 2)).Wait()
	require.EqualError(t, err,
		`"x": rank 2: all_reduce: rank 2 is not a member of the team {0,1}`)
	_, err = w.Member(math.MaxInt, "x", parse(t, "all_reduce int32 sum shape 2")).Post(
		context.Background(), one(1, 2)).Wait()
	require.ErrorContains(t, err, "is not a member of the team {0…2}")
	for _, ranks := range []int{math.MinInt, -1, 0, 1 << 62} {
		_, err := comm.New(ranks, interpreter, nil)
		require.EqualError(t, err, fmt.Sprintf("%d ranks: 1 to 1048576 are expected", ranks))
	}
	_, err = comm.New(1, nil, nil)
	require.EqualError(t, err, "no executor")
}

// TestWrongAttributes: what no team could do is an error of the rank, and the others are told.
func TestWrongAttributes(t *testing.T) {
	w := world(t, 2)
	_, errs := together(2, func(rank int) *comm.Handle {
		c := parse(t, []string{"broadcast int32 shape 2", "broadcast int32 shape 2 root 9"}[rank])
		return w.Member(rank, "x", c).Post(context.Background(), one(1, 2))
	})
	require.EqualError(t, errs[1], `"x": rank 1: broadcast: the root 9 is not a `+
		`member of the team {0…1}`)
	require.ErrorContains(t, errs[0], "rank 1 cannot take part: ")
}
