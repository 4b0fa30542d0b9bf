package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/unit"
)

// program is a schedule of two streams on every rank: a matmul of a given tensor, and meanwhile a
// copy, by a copy engine, of that of the next rank.
func program(t testing.TB, ranks int) *Schedule {
	a := kernel.Tensor{Shape: collective.Shape{4, 8}, Type: dtype.BFloat16}
	b := kernel.Tensor{Shape: collective.Shape{8, 2}, Type: dtype.BFloat16}
	op, err := kernel.NewMatmul(a, b, false, false, dtype.Float32)
	require.NoError(t, err)
	none := make([]int64, ranks)
	s, err := Build(Plan{Name: "two streams", Lanes: 2,
		Spec: collective.Spec{Kind: collective.Custom, Type: dtype.BFloat16, Ranks: ranks,
			Splits: [][]int64{none, none}},
		Tensors: []Tensor{
			{Name: "a", Type: dtype.BFloat16, Shape: a.Shape, Role: Given, Symmetric: true,
				Cut: Cut{{Axis: Block, N: 2}}},
			{Name: "b", Type: dtype.BFloat16, Shape: b.Shape, Role: Given},
			{Name: "c", Type: dtype.Float32, Shape: collective.Shape{4, 2}, Role: Result},
			{Name: "next", Type: dtype.BFloat16, Shape: a.Shape, Role: Result}},
		Defs: []Def{{Kernel: &op, From: []Buffer{FirstTensor, FirstTensor + 1}, To: FirstTensor + 2}},
		Lane: func(l *Lane) {
			if l.Index == 0 {
				l.Launch(Launch{})
				l.Compute(op, l.Tensor("c", 0), l.Tensor("a", 0).Blocks(2), l.Tensor("b", 0))
				l.Post()
				return
			}
			l.Launch(Launch{Engine: CopyEngine, Name: "pull"})
			l.Combine([]Region{l.Tensor("next", 0)}, nil, l.Get(l.Rank+1, l.Tensor("a", 0).Blocks(2)))
			l.After(0, 1)
			l.Launch(Launch{Blocks: 1})
			l.Barrier()
		}})
	require.NoError(t, err)
	return s
}

func TestProgramText(t *testing.T) {
	s := program(t, 3)
	text := s.String()
	read, err := Parse(text)
	require.NoError(t, err, text)
	require.Equal(t, text, read.String())
	require.True(t, Equal(s, read))
	for _, want := range []string{
		"tensor a given bfloat16 4x8 symmetric\ncut a block even 2\n",
		"define c = (matmul m=4 k=8 n=2 bfloat16*bfloat16->float32) of a, b\n",
		"    compute (matmul m=4 k=8 n=2 bfloat16*bfloat16->float32) a, b into c post launch(sms) @0\n",
		"    copy get 1 a into next launch(copy name=pull) @0\n",
		"    signal to 1 after 0#1 launch(sms blocks=1) @0\n",
	} {
		require.Contains(t, text, want)
	}
}

// composed is the program, and a ring all-gather of its result among ranks 0 and 2, on a further
// stream, and one of ranks 1 and 3 that nothing precedes.
func composed(t testing.TB) *Schedule {
	first := program(t, 4)
	spec := collective.Spec{Kind: collective.AllGather, Type: dtype.Float32, Ranks: 2, Count: 8}
	gather, err := Build(Plan{Name: "exchange", Spec: spec, Lane: func(l *Lane) {
		l.Send(l.Rank+1, l.In(0))
		l.Recv(l.Rank+1, l.Out(l.Rank+1))
		l.Copy(l.Out(l.Rank), l.In(0))
	}})
	require.NoError(t, err)
	tensors := append([]Tensor{}, first.Tensors...)
	tensors = append(tensors, Tensor{Name: "all", Type: dtype.Float32,
		Shape: collective.Shape{2, 4, 2}, Role: Result})
	at := func(b int) Place { return Place{Tensor: FirstTensor + Buffer(b)} }
	s, err := Compose("layer", 4, tensors, []Part{
		{Name: "work", Schedule: first, Memory: []Place{{}, {}, {}, at(0), at(1), at(2), at(3)}},
		{Name: "rows", Schedule: gather, Ranks: []int{0, 2}, Stream: 2, Launch: &Launch{},
			After: []int{0}, Memory: []Place{at(2), at(4)}},
		{Name: "others", Schedule: gather, Ranks: []int{3, 1}, Stream: 2, Launch: &Launch{},
			Memory: []Place{at(2), {Tensor: FirstTensor + 4, Offsets: []int64{0, 0}}}},
	})
	require.NoError(t, err)
	return s
}

func TestComposedText(t *testing.T) {
	s := composed(t)
	text := s.String()
	read, err := Parse(text)
	require.NoError(t, err, text)
	require.Equal(t, text, read.String())
	require.True(t, Equal(s, read))
	require.Contains(t, text,
		"part others ranks 3,1 stream 2 launch(sms) in=c out=all@0,0 as 1\n")
}

// TestComposedEqual: schedules of parts are equal if all that they consist of is, and not else.
func TestComposedEqual(t *testing.T) {
	good := composed(t)
	whole := func(tensors []Tensor, parts []Part) *Schedule {
		s, err := Compose("layer", 4, tensors, parts)
		require.NoError(t, err)
		return s
	}
	parts := func(change func(p []Part)) []Part {
		p := append([]Part{}, good.Parts()...)
		change(p)
		return p
	}
	named := append([]Tensor{}, good.Tensors...)
	named[0].Name = "z"
	other := *good.Parts()[2].Schedule
	other.Name = "another"
	require.True(t, Equal(good, whole(good.Tensors, parts(func([]Part) {}))))
	teams := parts(func(p []Part) { p[1].After = nil })[1:]
	for i := range teams {
		teams[i].Memory, teams[i].Launch, teams[i].Stream = nil, nil, 0
	}
	beside := whole(nil, teams)
	require.NotNil(t, beside.Teams())
	for _, c := range []struct{ a, b *Schedule }{
		{good, whole(good.Tensors, good.Parts()[:2])},
		{good, whole(named, good.Parts())},
		{good, whole(good.Tensors, parts(func(p []Part) { p[2].Stream = 3 }))},
		{good, whole(good.Tensors, parts(func(p []Part) { p[2].Schedule = &other }))},
		{good, good.Parts()[0].Schedule},
		{beside, whole(nil, teams[:1])},
		{beside, whole(nil, []Part{teams[1], teams[0]})},
	} {
		require.False(t, Equal(c.a, c.b), "%v\n%v", c.a, c.b)
		require.False(t, Equal(c.b, c.a), "%v\n%v", c.b, c.a)
	}
}

// TestComposedPrograms: a rank runs the lanes of its parts, each between a step that awaits the
// parts before it and one that posts; peers, lanes and memory are those of the whole.
func TestComposedPrograms(t *testing.T) {
	s := composed(t)
	p := s.Program(2)
	require.Equal(t, 3, p.Lanes())
	require.Equal(t, []int{0, 0, 1}, []int{p.Part(0), p.Part(1), p.Part(2)})
	require.Equal(t, []int{0, 1, 2}, []int{p.Stream(0), p.Stream(1), p.Stream(2)})
	var got []Step
	var step Step
	for c := p.Walk(2); !c.Done(); c.Next(1) {
		p.Load(&c, &step)
		got = append(got, step.clone())
	}
	require.Len(t, got, 5)
	require.Equal(t, []Event{{0, 2}, {1, 1}}, got[0].Await)
	require.True(t, got[0].Launch.Whole)
	require.Equal(t, Peer{Rank: 0, Lane: 2}, got[1].Send[0].Peer)
	require.True(t, got[4].Post)
	where := Spot{Rank: 2, Part: 1}
	memory, base := s.Locate(where, Output)
	require.Equal(t, FirstTensor+4, memory)
	require.Zero(t, base)
	n, known := s.Bytes(where, &got[1])
	require.True(t, known)
	require.Equal(t, int64(32), n)
	// Rank 3 executes rank 0 of its part, whose only other rank is 1.
	p = s.Program(3)
	c := p.Walk(2)
	p.Load(&c, &step)
	require.Empty(t, step.Await)
	c.Next(1)
	p.Load(&c, &step)
	require.Equal(t, int32(1), step.Send[0].Peer.Rank)

	var order []int32
	counts, err := Execute(s, Limits{}, Hooks{Step: func(v *Visit) error {
		if v.Rank == 0 && v.Slice == 0 {
			order = append(order, v.Part)
		}
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, int64(4*3+4), counts.Messages)
	require.True(t, order[len(order)-1] == 1 && order[0] == 0, order)
}

func TestComposeRefuses(t *testing.T) {
	good := composed(t)
	parts := func() []Part { return good.Parts() }
	at := func(b int) Place { return Place{Tensor: FirstTensor + Buffer(b)} }
	for _, c := range []struct {
		damage func(p []Part)
		want   string
	}{
		{func(p []Part) { p[1].Ranks = []int{0} }, "1 ranks are to execute a schedule of 2"},
		{func(p []Part) { p[1].Ranks = []int{0, 0} }, "rank 0 is none of the 4, or executes twice"},
		{func(p []Part) { p[1].Memory = []Place{at(2)} }, "out, of 16 elements, lies in no tensor"},
		{func(p []Part) { p[1].Memory = []Place{at(0), at(4)} },
			"in is of float32, and lies in a, of bfloat16"},
		{func(p []Part) { p[1].Memory[1].Offsets = []int64{1} },
			"out, elements 1 to 17, does not lie in all"},
		{func(p []Part) { p[1].After = []int{1} },
			"it is after part 1, which is none of the 1 before it"},
		{func(p []Part) { p[1].Launch = &Launch{Engine: 9} }, "launch: engine 9 is none"},
		{func(p []Part) { p[1].Schedule = nil }, "a schedule of one part is expected"},
	} {
		list := parts()
		list[1].Memory = append([]Place{}, list[1].Memory...)
		c.damage(list)
		_, err := Compose("x", 4, good.Tensors, list)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "part 1")
	}
}

func TestOpaque(t *testing.T) {
	s := Step{Kernel: Opaque(5 * unit.Nanosecond)}
	require.Equal(t, 5*unit.Nanosecond, s.OpaqueTime())
	require.Equal(t, "compute", s.Name())
}

// TestComposedTeams: a part's multimem is of the ranks that execute the part.
func TestComposedTeams(t *testing.T) {
	sum, err := Parse(`schedule sum
collective custom float32 sum
ranks 2
tensor x given float32 4 symmetric
tensor y result float32 4 symmetric
rank 0
  lane 0
    wait from 1 @0
    reduceSend multimem{0,1} x to multimem{0,1} at y @0
    signal to 1 @0
rank 1
  lane 0
    signal to 0 @0
    wait from 0 @0
`)
	require.NoError(t, err)
	at := []Place{{}, {}, {}, {Tensor: FirstTensor}, {Tensor: FirstTensor + 1}}
	s, err := Compose("sums", 4, sum.Tensors, []Part{
		{Name: "even", Schedule: sum, Ranks: []int{0, 2}, Memory: at},
		{Name: "odd", Schedule: sum, Ranks: []int{3, 1}, Memory: at},
	})
	require.NoError(t, err)
	for rank, team := range map[int][]int32{0: {0, 2}, 3: {3, 1}} {
		p, seen := s.Program(rank), 0
		var step Step
		for c := p.Walk(0); !c.Done(); c.Next(1) {
			if p.Load(&c, &step); len(step.From) > 0 && step.From[0].Kind == Multimem {
				require.Equal(t, team, step.From[0].Team)
				require.Equal(t, team, step.Send[0].Team)
				seen++
			}
		}
		require.Equal(t, 1, seen)
	}
}
