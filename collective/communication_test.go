package collective

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// TestShapes: inputs of the ranks, and what comes out or what the error says. nil is no input.
func TestShapes(t *testing.T) {
	type shapes = []Shape
	for _, c := range []struct {
		communication string
		in            shapes
		want          shapes
		err           string
	}{
		{"all_reduce sum", shapes{{4, 5}, {4, 5}}, shapes{{4, 5}, {4, 5}}, ""},
		{"all_reduce sum", shapes{{4, 5}, {5, 4}}, nil,
			"all_reduce: rank 0 passes shape 4x5, rank 1 shape 5x4; " +
				"all inputs must have one shape"},
		{"all_reduce sum team 3,1", shapes{{4}, nil}, nil,
			"all_reduce: rank 1 passes no input"},
		{"all_reduce sum", shapes{{}, {}}, shapes{{}, {}}, ""},
		{"all_gather", shapes{{4, 5}, {4, 5}, {4, 5}}, shapes{{12, 5}, {12, 5}, {12, 5}}, ""},
		{"all_gather axis 1", shapes{{4, 5}, {4, 5}}, shapes{{4, 10}, {4, 10}}, ""},
		{"all_gather axis 2", shapes{{4, 5}, {4, 5}}, nil,
			"all_gather on axis 2 of a tensor of shape 4x5, which has 2 axes"},
		{"all_gather", shapes{{}, {}}, nil,
			"all_gather on axis 0 of a tensor of shape scalar, which has 0 axes"},
		{"all_gatherv splits 1,3", shapes{{1, 5}, {3, 5}}, shapes{{4, 5}, {4, 5}}, ""},
		{"all_gatherv splits 1,3", shapes{{2, 5}, {3, 5}}, nil,
			"all_gatherv: rank 0 has length 2 on axis 0, its split is 1"},
		{"all_gatherv splits 1,3", shapes{{1, 5}, {3, 6}}, nil, "all_gatherv: rank 0 " +
			"passes shape 1x5, rank 1 shape 3x6; inputs may differ on axis 0 alone"},
		{"reduce_scatter sum", shapes{{4, 5}, {4, 5}}, shapes{{2, 5}, {2, 5}}, ""},
		{"reduce_scatter sum", shapes{{4, 5}, {4, 5}, {4, 5}}, nil, "reduce_scatter: " +
			"axis 0 of length 4 cannot be divided into 3 parts: 1 would remain"},
		{"reduce_scatterv sum splits 1,3", shapes{{4}, {4}}, shapes{{1}, {3}}, ""},
		{"reduce_scatterv sum splits 1,2", shapes{{4}, {4}}, nil,
			"reduce_scatterv: the splits add up to 3, axis 0 has length 4"},
		{"gather root 1", shapes{{4}, {4}}, shapes{{1}, {8}}, ""},
		{"reduce sum root 1", shapes{{4}, {4}}, shapes{{1}, {4}}, ""},
		{"broadcast root 1", shapes{nil, {4}}, shapes{{4}, {4}}, ""},
		{"broadcast root 1", shapes{{4}, {4}}, nil, "broadcast takes one input, the " +
			"root's; rank 0, which is not the root 1, passes one of shape 4"},
		{"broadcast team 5,7 root 6", shapes{nil, {4}}, nil,
			"broadcast: the root 6 is not a member of the team {5,7}"},
		{"scatter team 5,7 root 5", shapes{{4, 3}, nil}, shapes{{2, 3}, {2, 3}}, ""},
		{"scatter", shapes{nil, nil}, nil, "scatter: rank 0 passes no input"},
		{"all_to_all", shapes{{4, 3}, {4, 3}}, shapes{{4, 3}, {4, 3}}, ""},
		{"all_to_all axis 1 concat 2", shapes{{2, 6, 5}, {2, 6, 5}, {2, 6, 5}},
			shapes{{2, 2, 15}, {2, 2, 15}, {2, 2, 15}}, ""},
		{"all_to_allv splits 1,2/3,0", shapes{{3, 2}, {3, 2}}, shapes{{4, 2}, {2, 2}}, ""},
		{"all_to_allv splits 1,2/3,0", shapes{{4, 2}, {3, 2}}, nil, "all_to_allv: the " +
			"splits of rank 0 add up to 3, its axis 0 has length 4"},
		{"barrier", shapes{nil, nil}, shapes{nil, nil}, ""},
		{"barrier", shapes{nil, {1}}, nil,
			"barrier takes no input, but rank 1 has one"},
		{"all_reduce sum", shapes{{-1}, {-1}}, nil, "shape -1: axis 0 has length -1"},
	} {
		comm, err := ParseCommunication(c.communication)
		require.NoError(t, err)
		got, err := comm.Shapes(c.in)
		if c.err != "" {
			require.EqualError(t, err, c.err, c.communication)
			continue
		}
		require.NoError(t, err, c.communication)
		require.Equal(t, c.want, got, c.communication)
	}
}

// TestAxes moves tensors with the flat Spec, packed and unpacked, and compares element by element
// with what gathering and splitting along an axis means.
func TestAxes(t *testing.T) {
	const ranks = 3
	in := Shape{2, 6, 4}
	at := func(s Shape, i, j, k int64) int64 { return (i*s[1]+j)*s[2] + k }
	run := func(c *Communication) [][]int64 {
		spec, err := c.Spec(ranks)
		require.NoError(t, err)
		flat := make([][]int64, ranks)
		for rank := range flat {
			flat[rank] = make([]int64, spec.In(rank))
			for _, m := range c.Pack(rank, ranks) {
				for i := range m.Len {
					flat[rank][m.Flat+i] = int64(rank)*1000 + m.Tensor + i
				}
			}
		}
		out := apply(spec, flat)
		tensors := make([][]int64, ranks)
		for rank := range out {
			tensors[rank] = make([]int64, spec.Out(rank))
			for _, m := range c.Unpack(rank, ranks) {
				copy(tensors[rank][m.Tensor:m.Tensor+m.Len], out[rank][m.Flat:])
			}
		}
		return tensors
	}
	for axis := range 3 {
		c := &Communication{Kind: AllGather, Type: dtype.Int64, Shape: in, Axis: axis}
		joined := in.with(axis, ranks*in[axis])
		for _, out := range run(c) {
			for x := range joined.Elements() {
				index := []int64{x / joined[2] / joined[1], x / joined[2] % joined[1], x % joined[2]}
				rank := index[axis] / in[axis]
				index[axis] %= in[axis]
				require.Equal(t, rank*1000+at(in, index[0], index[1], index[2]), out[x],
					"all_gather axis %d element %d", axis, x)
			}
		}
	}
	// all_to_all: split axis 1, join axis 2: rank r has, in column block s, rank s's part r.
	out := Shape{2, 2, 12}
	for rank, got := range run(&Communication{Kind: AllToAll, Type: dtype.Int64, Shape: in, Axis: 1,
		Concat: 2}) {
		for i := range out[0] {
			for j := range out[1] {
				for k := range out[2] {
					from := k / in[2]
					want := from*1000 + at(in, i, int64(rank)*out[1]+j, k%in[2])
					require.Equal(t, want, got[at(out, i, j, k)])
				}
			}
		}
	}
	// reduce_scatter along axis 2 is refused: 4 is not divided by 3; along axis 1 it is not.
	_, err := (&Communication{Kind: ReduceScatter, Op: Sum, Type: dtype.Int64, Shape: in,
		Axis: 2}).Spec(ranks)
	require.ErrorContains(t, err, "axis 2 of length 4 cannot be divided into 3 parts")
	for rank, got := range run(&Communication{Kind: ReduceScatter, Op: Sum, Type: dtype.Int64,
		Shape: in, Axis: 1}) {
		part := Shape{2, 2, 4}
		for x := range part.Elements() {
			i, j, k := x/8, x/4%2, x%4
			require.Equal(t, 3000+3*at(in, i, int64(2*rank)+j, k), got[x])
		}
	}
	// uneven splits along the middle axis
	c := &Communication{Kind: AllGatherV, Type: dtype.Int64, Shape: Shape{2, 0, 1}, Axis: 1,
		Splits: [][]int64{{1, 0, 2}}}
	require.Equal(t, []int64{0, 2000, 2001, 1, 2002, 2003}, run(c)[1])
}

// TestCommunicationText: every attribute survives, and every attribute counts. No kind has all of
// them: what is printed is read back where all of it means something.
func TestCommunicationText(t *testing.T) {
	full := func() *Communication {
		return &Communication{Kind: ReduceScatterV, Op: PremulSum, Factor: 0.1, Avg: AvgPost,
			Type: dtype.BFloat16, Team: []int{4, 0, 2}, Root: 2, Shape: Shape{3, 7}, Axis: 1, Concat: 2,
			Splits: [][]int64{{1, 2, 4}}, InPlace: true, Disabled: true}
	}
	c := full()
	require.Equal(t, "reduce_scatterv bfloat16 premulsum factor 0.1 average post team 4,0,2 root 2 "+
		"shape 3x7 axis 1 concat 2 splits 1,2,4 in_place disabled", c.String())
	attribute, _, _ := c.Difference(full())
	require.Empty(t, attribute)
	for i, change := range []func(*Communication){
		func(c *Communication) { c.Kind = AllGatherV }, func(c *Communication) { c.Op = Sum },
		func(c *Communication) { c.Factor = 0.2 }, func(c *Communication) { c.Avg = AvgNCCL },
		func(c *Communication) { c.Type = dtype.Float16 }, func(c *Communication) { c.Team[0] = 5 },
		func(c *Communication) { c.Team = nil }, func(c *Communication) { c.Root = 0 },
		func(c *Communication) { c.Shape[1] = 8 }, func(c *Communication) { c.Axis = 0 },
		func(c *Communication) { c.Concat = 1 }, func(c *Communication) { c.Splits[0][1] = 3 },
		func(c *Communication) { c.InPlace = false }, func(c *Communication) { c.Disabled = false },
	} {
		d := full()
		change(d)
		require.NotEqual(t, c.String(), d.String(), "change %d", i)
		attribute, ours, theirs := c.Difference(d)
		require.NotEmpty(t, attribute, "change %d", i)
		require.NotEqual(t, ours, theirs, "change %d", i)
	}
	for _, text := range []string{
		"reduce_scatterv bfloat16 premulsum factor 0.1 team 4,0,2 shape 3x7 axis 1 splits 1,2,4 in_place",
		"reduce float16 avg average post team 4,0,2 root 2 shape scalar disabled",
		"all_to_all int8 shape 6x6 axis 1 concat 1",
	} {
		again, err := ParseCommunication(text)
		require.NoError(t, err)
		require.Equal(t, text, again.String())
	}
	for _, factor := range []float64{1.0 / 3, 16777217, 1e-300, -0x1p-52} { // with all their digits
		d := &Communication{Kind: AllReduce, Op: PremulSum, Factor: factor}
		again, err := ParseCommunication(d.String())
		require.NoError(t, err)
		require.Equal(t, factor, again.Factor, d.String())
	}
	for text, want := range map[string]string{
		"": "no kind in an empty communication",
		"all_reduce sum tem 1": `"all_reduce sum tem 1": "tem" is no attribute; ` +
			"attributes are a type, an operator, factor, average, team, root, shape, axis, concat, " +
			"splits, in_place and disabled",
		"all_reduce team": `"all_reduce team": team: "": ` +
			"numbers with commas between them are expected",
		"all_reduce shape 4x": `"all_reduce shape 4x": shape: ` +
			`"4x" is no shape; ` +
			"shapes look like 4x5x6",
	} {
		_, err := ParseCommunication(text)
		require.EqualError(t, err, want)
	}
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		communication        string
		rank                 int
		sources, destination int
	}{
		{"all_reduce float32 sum", 1, 1, 1}, {"all_gather float32", 2, 1, 4},
		{"reduce_scatter float32 sum", 3, 4, 1}, {"all_to_all float32", 0, 4, 4},
		{"broadcast float32 root 2", 2, 1, 1}, {"broadcast float32 root 2", 0, 0, 1},
		{"reduce float32 sum team 3,1 root 1", 1, 1, 1},
		{"reduce float32 sum team 3,1 root 1", 3, 1, 0},
		{"gather float32 team 3,1,0 root 1", 1, 1, 3}, {"gather float32 team 3,1,0 root 1", 0, 1, 0},
		{"scatter float32", 0, 4, 1}, {"scatter float32", 1, 0, 1}, {"barrier", 1, 0, 0},
		{"send_recv float32", 1, 1, 1},
	} {
		comm, err := ParseCommunication(c.communication)
		require.NoError(t, err)
		require.NoError(t, comm.CheckBuffers(c.rank, 4, c.sources, c.destination), c.communication)
		require.Error(t, comm.CheckBuffers(c.rank, 4, c.sources+1, c.destination))
		require.Error(t, comm.CheckBuffers(c.rank, 4, c.sources, c.destination+1))
	}
	check := func(text string, rank int, want string) {
		comm, err := ParseCommunication(text)
		require.NoError(t, err)
		require.EqualError(t, comm.CheckBuffers(rank, 4, 3, 0), want)
	}
	check("gather team 3,1,0 root 1", 1,
		"gather: root 1 takes 1 source buffers, not 3")
	check("gather team 3,1,0 root 1", 2,
		"gather: rank 2 is not a member of the team {3,1,0}")
	check("gather team 3,1,9 root 1", 1, "team {3,1,9} on 4 ranks: there is no rank 9")
	check("gather team 3,1,3 root 1", 1,
		"team {3,1,3}: rank 3 is negative or named twice")
	check("gather team 3,1,4 root 1", 1, "team {3,1,4} on 4 ranks: there is no rank 4")
	check("gather root 4", 1, "gather: the root 4 is not a member of the team {0…3}")
}

// TestValidateCommunication: what no team, operator or type can be is refused, not tripped over.
func TestValidateCommunication(t *testing.T) {
	for _, c := range []struct {
		communication Communication
		ranks         int
		want          string
	}{
		{Communication{Kind: AllReduce}, 0, "0 ranks; at least 1 is needed"},
		{Communication{Kind: AllReduce, Op: 99}, 2,
			"all_reduce: there is no operator Op(99)"},
		{Communication{Kind: AllReduce, Type: 99}, 2,
			"all_reduce: there is no type dtype.Type(99)"},
		{Communication{Kind: AllReduce, Shape: Shape{-1}}, 2,
			"shape -1: axis 0 has length -1"},
	} {
		require.EqualError(t, c.communication.Validate(c.ranks), c.want)
	}
	_, err := (&Communication{Kind: AllReduce}).Shapes(nil)
	require.EqualError(t, err, "0 ranks; at least 1 is needed")
}

func TestDeclaredType(t *testing.T) {
	c, err := ParseCommunication("all_reduce bfloat16 sum")
	require.NoError(t, err)
	require.NoError(t, c.CheckType(3, dtype.BFloat16))
	require.EqualError(t, c.CheckType(3, dtype.Float16),
		"all_reduce is declared on bfloat16, but rank 3 passes float16")
}

// TestAlias walks an input past an output: only the documented place is legal.
func TestAlias(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, kind := range Kinds() {
		if kind == Barrier || kind == AllToAllV {
			continue
		}
		s := linear(r, kind)
		s.Ranks, s.Root, s.Count, s.Splits = 3, 0, 4, nil
		if kind.Splits() {
			s.Count, s.Splits = 0, [][]int64{{2, 4, 3}}
		}
		for rank := range 3 {
			in, out := s.In(rank), s.Out(rank)
			i, o := s.Place(rank)
			for off := int64(-20); off < 20; off++ {
				err := s.CheckAlias(rank, Extent{100 + off, in}, Extent{100, out})
				apart := off+in <= 0 || off >= out || in == 0 || out == 0
				if apart || off == i-o {
					require.NoError(t, err, "%v rank %d offset %d", kind, rank, off)
				} else {
					require.Error(t, err, "%v rank %d offset %d", kind, rank, off)
				}
			}
		}
	}
	s := Spec{Kind: AllGather, Type: dtype.Float32, Ranks: 4, Count: 8}
	require.EqualError(t, s.CheckAlias(2, Extent{0, 8}, Extent{0, 32}), "all_gather: the "+
		"input of rank 2 overlaps its output and begins +0 elements from it; in place it begins at +16, "+
		"otherwise they must lie apart")
}

// TestBlocks: buffers are as many as the role says, and hold the blocks of the flat collective.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		communication string
		position      int
		in, out       []Shape
	}{
		{"all_reduce float32 sum shape 4x3", 1, []Shape{{4, 3}}, []Shape{{4, 3}}},
		{"send_recv float32 shape 4", 1, []Shape{{4}}, []Shape{{4}}},
		{"all_gather float32 shape 4x3 axis 1", 1, []Shape{{4, 3}}, []Shape{{4, 3}, {4, 3}, {4, 3}}},
		{"all_gatherv float32 shape 9x3 splits 1,0,5", 2, []Shape{{5, 3}},
			[]Shape{{1, 3}, {0, 3}, {5, 3}}},
		{"reduce_scatter float32 sum shape 4x3 axis 1", 1, []Shape{{4, 1}, {4, 1}, {4, 1}},
			[]Shape{{4, 1}}},
		{"reduce_scatterv float32 sum shape 6x3 splits 1,0,5", 2, []Shape{{1, 3}, {0, 3}, {5, 3}},
			[]Shape{{5, 3}}},
		{"broadcast float32 shape 4x3 team 7,5,6 root 5", 1, []Shape{{4, 3}}, []Shape{{4, 3}}},
		{"broadcast float32 shape 4x3 team 7,5,6 root 5", 0, nil, []Shape{{4, 3}}},
		{"reduce float32 sum shape 4x3 root 2", 2, []Shape{{4, 3}}, []Shape{{4, 3}}},
		{"reduce float32 sum shape 4x3 root 2", 0, []Shape{{4, 3}}, nil},
		{"gather float32 shape 4 root 2", 2, []Shape{{4}}, []Shape{{4}, {4}, {4}}},
		{"gather float32 shape 4 root 2", 1, []Shape{{4}}, nil},
		{"scatter float32 shape 6 root 2", 2, []Shape{{2}, {2}, {2}}, []Shape{{2}}},
		{"scatter float32 shape 6 root 2", 0, nil, []Shape{{2}}},
		{"all_to_all float32 shape 2x6 axis 1", 0, []Shape{{2, 2}, {2, 2}, {2, 2}},
			[]Shape{{2, 2}, {2, 2}, {2, 2}}},
		{"all_to_allv float32 shape 9x2 splits 1,2,3/4,5,6/7,8,9", 1,
			[]Shape{{4, 2}, {5, 2}, {6, 2}}, []Shape{{2, 2}, {5, 2}, {8, 2}}},
		{"barrier", 0, nil, nil},
	} {
		comm, err := ParseCommunication(c.communication)
		require.NoError(t, err)
		spec, err := comm.Spec(3)
		require.NoError(t, err, c.communication)
		in, out := comm.Blocks(c.position, 3)
		require.Equal(t, c.in, in, c.communication)
		require.Equal(t, c.out, out, c.communication)
		ranks := 3
		if comm.Team != nil {
			ranks = 9
		}
		require.NoError(t, comm.CheckBuffers(comm.rank(c.position), ranks, len(in), len(out)))
		elements := func(shapes []Shape) (n int64) {
			for _, s := range shapes {
				n += s.Elements()
			}
			return n
		}
		require.Equal(t, spec.In(c.position), elements(in), c.communication)
		require.Equal(t, spec.Out(c.position), elements(out), c.communication)
	}
}
