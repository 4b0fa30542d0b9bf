package schedule

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
)

// ringLane is the ring of Patarasuk and Yuan, as NCCL has it.
func ringLane(l *Lane) {
	r, p := l.Rank, l.Ranks
	prev, next := r-1, r+1
	l.Send(next, l.Chunk(r))
	for i := 1; i < p-1; i++ {
		l.ReduceSend(prev, next, l.Chunk(r-i))
	}
	l.Completes()
	l.ReduceCopySend(prev, next, l.Chunk(r+1))
	for i := range p - 2 {
		l.CopySend(prev, next, l.Chunk(r-i))
	}
	l.Recv(prev, l.Chunk(r+2))
}

// directLane is all-to-all with a lane for every peer.
func directLane(l *Lane) {
	if l.Index == 0 {
		l.Copy(l.Out(l.Rank), l.In(l.Rank))
	}
	l.Send(l.Rank+1+l.Index, l.In(l.Rank+1+l.Index))
	l.Recv(l.Rank-1-l.Index, l.Out(l.Rank-1-l.Index))
}

func AllReduce(ranks int, count int64) collective.Spec {
	return collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: ranks, Count: count}
}

func Ring(t testing.TB, ranks int, count int64, change func(*Plan)) *Schedule {
	p := Plan{Name: "ring", Spec: AllReduce(ranks, count), Group: Group{int32(ranks)},
		Chunks: ranks, Lane: ringLane}
	if change != nil {
		change(&p)
	}
	s, err := Build(p)
	require.NoError(t, err)
	return s
}

func Direct(t testing.TB, ranks int) *Schedule {
	s, err := Build(Plan{Name: "direct", Lanes: ranks - 1, Group: Group{int32(ranks)},
		Spec: collective.Spec{Kind: collective.AllToAll, Type: dtype.Float32, Ranks: ranks, Count: 4},
		Lane: directLane})
	require.NoError(t, err)
	return s
}

// A ring lane is five items, and the lanes of direct are one bundle, at any rank count.
func TestRollsUp(t *testing.T) {
	for _, ranks := range []int{8, 64, 1024} {
		c := Ring(t, ranks, 5000, nil).role(0)
		require.Len(t, c.leaves, 5)
		require.Len(t, c.nodes, 7, "two loops")
	}
	c := Direct(t, 64).role(0)
	require.Len(t, c.bundles, 2, "the first lane also copies")
	require.Len(t, c.leaves, 5)
}

// With a group, every rank's program is what the author's function says for that rank.
func TestGroupEqualsEveryRank(t *testing.T) {
	for ranks := 2; ranks <= 17; ranks++ {
		grouped := Ring(t, ranks, 100, nil)
		each := Ring(t, ranks, 100, func(p *Plan) { p.Group = nil })
		for rank := range ranks {
			require.Equal(t, WalkText(each, rank), WalkText(grouped, rank))
		}
	}
	exchange := func(l *Lane) {
		for d := 1; d < l.Ranks; d *= 2 {
			l.Send(l.Rank^d, l.All())
			l.Reduce(l.Rank^d, l.All())
		}
	}
	for _, group := range []Group{{2}, {2, 2}, {2, 2, 2}, {2, 2, 2, 2}} {
		p := Plan{Spec: AllReduce(group.Order(), 7), Lane: exchange}
		each, err := Build(p)
		require.NoError(t, err)
		p.Group = group
		grouped, err := Build(p)
		require.NoError(t, err)
		for rank := range group.Order() {
			require.Equal(t, WalkText(each, rank), WalkText(grouped, rank))
		}
	}
}

// Whatever an author writes, the cursor gives back, rolled up or not.
func TestRollingChangesNothing(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests = tier.Raced(5, 15, 100)
	properties := gopter.NewProperties(parameters)
	properties.Property("the cursor walks what was written", prop.ForAll(
		func(seed int64) bool {
			return walksAsWritten(t, rand.New(rand.NewSource(seed)))
		}, gen.Int64()))
	properties.TestingRun(t)
}

// walksAsWritten builds a random program of nested loops whose indices move by random strides and
// sometimes jump.
func walksAsWritten(t *testing.T, random *rand.Rand) bool {
	const ranks = 7
	var written [][]string
	lanes := 1 + random.Intn(4)
	outer, middle, inner := 1+random.Intn(5), 1+random.Intn(5), 1+random.Intn(5)
	a, b, c, e := random.Intn(7), random.Intn(7), random.Intn(7), random.Intn(7)
	jump := random.Intn(60)
	s, err := Build(Plan{Spec: AllReduce(ranks, 70), Chunks: ranks, Lanes: lanes, Channels: 2,
		Slices: 1 + random.Intn(3), Lane: func(l *Lane) {
			n := 0
			for i := range outer {
				l.Send(l.Rank+1+(a*i+l.Index)%6, l.In(a*i))
				for j := range middle {
					for k := range inner {
						if n++; n == jump {
							l.Recv(l.Rank+1, l.Out(3))
						}
						l.CopySend(l.Rank+1+(b*j)%6, l.Rank-1, l.Out(c*k+b*j+l.Index*e))
					}
					l.Reduce(l.Rank+2, l.Out(c*j-a*i))
				}
			}
		}})
	require.NoError(t, err)
	for lane := range lanes { // the same by hand, rank 3
		var w []string
		n := 0
		for i := range outer {
			w = append(w, fmt.Sprintf("send in[%d] to %d", a*i%7, (3+1+(a*i+lane)%6)%7))
			for j := range middle {
				for k := range inner {
					if n++; n == jump {
						w = append(w, "recv from 4 into out[3]")
					}
					w = append(w, fmt.Sprintf("recvCopySend from %d into out[%d] to 2",
						(3+1+(b*j)%6)%7, (c*k+b*j+lane*e)%7))
				}
				chunk := mod(int32(c*j-a*i), 7)
				w = append(w, fmt.Sprintf("recvReduce from 5, out[%d] into out[%d]", chunk, chunk))
			}
		}
		written = append(written, w)
	}
	CheckWalks(t, s)
	p := s.Program(3)
	var step Step
	for lane := range p.Lanes() {
		var got []string
		for c := p.Walk(lane); !c.Done(); c.Next(1) {
			p.Load(&c, &step)
			text := s.StepText(lane, &step)
			got = append(got, text[:slices.Index([]byte(text), '@')-1])
		}
		if !slices.Equal(got, written[lane%lanes]) {
			t.Logf("lane %d\n got %q\nwant %q", lane, got, written[lane%lanes])
			return false
		}
	}
	text := s.String()
	q := MustParse(t, text)
	return q.String() == text && Equal(s, q)
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		name string
		lane func(*Lane)
		want string
	}{
		{"own peer", func(l *Lane) { l.Send(l.Rank+l.Ranks, l.All()) },
			"x: rank 0 lane 0 step 0: rank 0 is its own peer"},
		{"post", func(l *Lane) { l.Post() },
			"x: rank 0 lane 0 step 0: posts before its first step"},
		{"lane", func(l *Lane) { l.Send(1, l.All()); l.After(3, 1) },
			"x: rank 0 lane 0 step 1: awaits lane 3; lanes are 0…0, and its own is 0"},
		{"both", func(l *Lane) { l.Recv(l.Rank+1, l.Chunk(0)); l.Send(l.Rank+1, l.All()) },
			"x: rank 0 lane 0 step 1: 3 of 4 chunks are still input, the others output: " +
				"one step cannot take both"},
		{"put into what", func(l *Lane) { l.Put(1, l.All(), l.All()) },
			"x: rank 0 lane 0 step 0: a region of another rank is named by its buffer: In, Out " +
				"or Scratch"},
		{"get of what", func(l *Lane) { l.Combine([]Region{l.All()}, nil, l.Get(l.Rank+1, l.All())) },
			"x: rank 0 lane 0 step 0: a region of another rank is named by its buffer: In, Out " +
				"or Scratch"},
		{"channel", func(l *Lane) { l.Pads(2).Barrier(); l.Pads(-1).Barrier() },
			"x: rank 0 lane 0 step 6: pads of channel -1: 0 to 2147483647 are expected"},
		{"own pad", func(l *Lane) { l.Pads(1).Wait(l.Rank) },
			"x: rank 0 lane 0 step 0: rank 0 is its own peer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Build(Plan{Name: "x", Spec: AllReduce(4, 8), Chunks: 4, Lane: c.lane})
			require.EqualError(t, err, c.want)
		})
	}
	_, err := Build(Plan{Name: "x", Lane: func(l *Lane) { l.Send(l.Rank+1, l.Chunk(l.Rank+1)) },
		Spec: collective.Spec{Kind: collective.AllGather, Type: dtype.Int32, Ranks: 4, Count: 8}})
	require.EqualError(t, err, "x: rank 0 lane 0 step 0: "+
		"chunk 1 is not in this rank's in, which has only chunk 0")
	_, err = Build(Plan{Name: "x", Group: Group{3}, Spec: AllReduce(4, 8), Lane: ringLane})
	require.EqualError(t, err, "group [3] acts on 3 ranks, not on 4")
}

// One rank copies, in place it does nothing, and a collective without data has no steps.
func TestAloneAndEmpty(t *testing.T) {
	s := Ring(t, 1, 10, nil)
	require.Equal(t, "lane 0\n  copy in into out @0\n", WalkText(s, 0))
	s = Ring(t, 1, 10, func(p *Plan) { p.Spec.InPlace = true })
	require.Equal(t, "lane 0\n", WalkText(s, 0))
	s = Ring(t, 1, 10, func(p *Plan) {
		p.Spec.InPlace, p.Spec.Op, p.Spec.Type = true, collective.Avg, dtype.Int32
	})
	require.Equal(t, "lane 0\n  copy in into out scaled @0\n", WalkText(s, 0))
	s = Ring(t, 8, 0, nil)
	require.Equal(t, 0, s.Program(3).Lanes())
}

// Symmetric memory's steps: a two-shot all-reduce through the switch, with pads of two channels.
func TestPadsAndMultimem(t *testing.T) {
	s, err := Build(Plan{Name: "two-shot", Spec: AllReduce(4, 16), Group: Group{4}, Chunks: 4,
		Lane: func(l *Lane) {
			l.Barrier()
			l.Multicast(l.Out(l.Rank), l.LoadReduce(l.In(l.Rank)))
			l.Pads(3).Barrier()
		}})
	require.NoError(t, err)
	require.Equal(t, `schedule two-shot
collective all_reduce float32 sum
ranks 4
count 16
group 4
cut in block even 4 by rank
cut out block even 4 by rank
rank *
  lane 0
    loop 3
      signal to 1+i @0
    loop 3
      wait from 3-i @0
    reduceSend multimem{0,1,2,3} in[0] to multimem{0,1,2,3} at out[0] @0
    loop 3
      signal to 1+i:3 @0
    loop 3
      wait from 3-i:3 @0
`, s.String())
	CheckWalks(t, s)
	require.True(t, Equal(s, MustParse(t, s.String())))
	s, err = Build(Plan{Name: "mean", Chunks: 2, Spec: collective.Spec{Kind: collective.AllReduce,
		Op: collective.Avg, Type: dtype.Float32, Ranks: 2, Count: 4}, Lane: func(l *Lane) {
		l.Multicast(l.Out(l.Rank), l.LoadReduce(l.In(l.Rank)))
	}})
	require.NoError(t, err)
	require.Contains(t, WalkText(s, 1), "scaled multimem{0,1} in[1] to multimem{0,1} at out[1]")
}

// Rounds count on by themselves where a round has had its send, or its receipt.
func TestRoundsCountOn(t *testing.T) {
	s, err := Build(Plan{Spec: AllReduce(4, 8), Lane: func(l *Lane) {
		l.Signal(1 + l.Rank)
		l.Send(1+l.Rank, l.In(0))
		l.Wait(3 + l.Rank)
		l.Recv(3+l.Rank, l.Out(0))
		l.Recv(2+l.Rank, l.Out(0))
		l.Send(2+l.Rank, l.Out(0))
		l.Round(7)
		l.Send(3+l.Rank, l.Out(0))
		l.ReduceSend(1+l.Rank, 3+l.Rank, l.Out(0))
		l.Recv(3+l.Rank, l.Out(0))
		l.Send(3+l.Rank, l.Out(0))
		l.Recv(3+l.Rank, l.Out(0))
	}})
	require.NoError(t, err)
	require.Equal(t, `lane 0
  signal to 1 @0
  send in to 1 @0
  wait from 3 @0
  recv from 3 into out @0
  recv from 2 into out @1
  send out to 2 @1
  send out to 3 @7
  recvReduceSend from 1, out to 3 @8
  recv from 3 into out @9
  send out to 3 @9
  recv from 3 into out @10
`, WalkText(s, 0))
}

// Scratch blocks have the size of the largest block.
func TestScratchBlocks(t *testing.T) {
	s, err := Build(Plan{Spec: AllReduce(4, 10), Chunks: 4, Scratch: 2, Lane: func(l *Lane) {
		l.Copy(l.Scratch(1), l.In(0))
	}})
	require.NoError(t, err)
	require.Equal(t, int64(6), s.Memory)
	require.Equal(t, []Span{{3, 3}}, s.Spans(nil, Spot{}, &Region{Buffer: Scratch, First: 1, Run: 1,
		Times: 1}))
}

// How each way to split divides 10 elements.
func TestSplits(t *testing.T) {
	for _, c := range []struct {
		level Level
		want  []int64 // lengths
	}{
		{Level{Split: Even, N: 4}, []int64{3, 3, 2, 2}},
		{Level{Split: Even, N: 4, Align: 2}, []int64{4, 2, 2, 2}},
		{Level{Split: Even, N: 4, Align: 3}, []int64{3, 3, 2, 2}}, // 3 does not divide 10
		{Level{Split: Ceil, N: 4}, []int64{3, 3, 3, 1}},
		{Level{Split: Ceil, N: 6}, []int64{2, 2, 2, 2, 2, 0}},
		{Level{Split: Size, N: 4}, []int64{4, 4, 2}},
		{Level{Split: Aligned, N: 4, Align: 2}, []int64{4, 4, 2, 0}},
		{Level{Split: Table, Ends: [][]int64{{1, 1, 9, 10}}}, []int64{1, 0, 8, 1}},
	} {
		var got []int64
		end := int64(5)
		for i := range c.level.parts(10) {
			p := c.level.part(span{5, 10}, i, 0)
			require.Equal(t, end, p.off)
			end += p.len
			got = append(got, p.len)
		}
		require.Equal(t, c.want, got, "%v", c.level)
		require.Equal(t, int64(15), end)
	}
}

// TestAssembleRollsTilesUp: a program written out for every tile takes the memory of one, whatever
// its length, and prints as short.
func TestAssembleRollsTilesUp(t *testing.T) {
	const body, tiles = 300, 20
	spec := collective.Spec{Kind: collective.SendRecv, Type: dtype.Float32, Ranks: 2,
		Count: body * tiles}
	cut := Cut{{Axis: Tile, Split: Even, N: tiles}, {Axis: Block, N: body}}
	s, err := Assemble(Schedule{Name: "tiles", Spec: spec, Cuts: [3]Cut{Input: cut, Output: cut}},
		[]int{2, 2}, func(rank, lane int, add func(Step)) {
			peer := Peer{Rank: int32(1 - rank), Lane: int32(1 - lane)}
			for tile := range int32(tiles) {
				for b := range int32(body) { // a walk through the blocks that is no loop itself
					r := Region{Tile: tile, First: int32(uint64(b) * 0x9e3779b97f4a7c15 >> 32 % body), Run: 1,
						Times: 1}
					if lane == 0 {
						add(Step{From: []Source{{Region: r}}, Send: []Dest{{Peer: peer}}})
						continue
					}
					r.Buffer = Output
					add(Step{From: []Source{{Kind: Message, Peer: peer}}, To: []Region{r}})
				}
			}
		})
	require.NoError(t, err)
	steps := 0
	for c := s.Program(0).Walk(0); !c.Done(); c.Next(1) {
		steps++
	}
	require.Equal(t, body*tiles, steps)
	require.Less(t, strings.Count(s.String(), "\n"), 4*(body+10))
}
