package schedule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// plainText has no group, two lanes a rank, tiles, and an operator with a factor.
const plainText = `schedule plain
collective all_reduce float32 sum
ranks 3
count 12
scratch 8
cut in tile size 2, block even 4
cut scratch block even 4
rank 0
  lane 0
    nop @0
  lane 1
    loop 3
      copy in<i>[0] into scratch[i] @0
rank 1
  lane 0
    nop @0
rank 2
  lane 0
    nop @0
`

// What breaks a rule is refused with its line when it is read: line 10 and 13 are rank 0's, in
// lane 0 and in the loop of lane 1.
func TestWellFormed(t *testing.T) {
	const nop, loop = "-     nop @0\n+     ", "-       copy in<i>[0] into scratch[i] @0\n+       "
	for _, c := range []struct{ edit, want string }{
		{nop + "send in to 7 @0", "line 10: rank 7 is none of the 3"},
		{nop + "send in to -1 @0", "line 10: rank -1 is none of the 3"},
		{loop + "send in to 1+i @0", "line 13: rank 3 is none of the 3"},
		{loop + "send in to 2-2i @0", "line 13: rank -2 is none of the 3"},
		{nop + "put in to 3 at out silent @0", "line 10: rank 3 is none of the 3"},
		{nop + "copy get 3 out into out @0", "line 10: rank 3 is none of the 3"},
		{nop + "send multimem{0,3} in to 1 @0", `line 10: "3": a number from 0 to 2 is expected`},
		{nop + "recv from 1 into scratch[4] @0", "line 10: block 4 of scratch, which has 4"},
		{nop + "recv from 1 into out[1] @0", "line 10: block 1 of out, which has 1"},
		{nop + "recv from 1 into scratch[3 x2] @0", "line 10: block 4 of scratch, which has 4"},
		{nop + "recv from 1 into scratch[1 x1 -2 x2] @0", "line 10: block -1 of scratch, which has 4"},
		{loop + "recv from 1/0 into scratch[1-i] @0", "line 13: block -1 of scratch, which has 4"},
		{loop + "recv from 1/0 into scratch[2i] @0", "line 13: block 4 of scratch, which has 4"},
		{nop + "put in to 1 at out[-1] silent @0", "line 10: block -1 of out, which has 1"},
		{loop + "send in<-1>[0] to 1 @0", "line 13: tile -1 of in, which has 6"},
		{loop + "send in<1+3i>[0] to 1 @0", "line 13: tile 7 of in, which has 6"},
		{nop + "send out<1> to 1 @0", "line 10: tile 1 of out, which has 1"},
		{loop + "send out<i> to 1 @0", "line 13: tile 2 of out, which has 1"},
		{nop + "send in to 1/1 @0", "line 10: lane 1 of rank 1, which has 1"},
		{loop + "send in<0>[0] to 2/i @0", "line 13: lane 1 of rank 2, which has 1"},
		{nop + "send in to 1/-1 @0", "line 10: lane -1 of rank 1, which has 1"},
		{nop + "send in to 0 @0", "line 10: rank 0 is its own peer"},
		{loop + "send in<0>[0] to 2-i/0 @0", "line 13: rank 0 is its own peer"},
		{nop + "signal to 0 @0", "line 10: rank 0 is its own peer"},
		{nop + "put in to 0 at out silent @0", "line 10: rank 0 is its own peer"},
		{nop + "copy get 0 in into out @0", "line 10: rank 0 is its own peer"},
		{nop + "send in to 1, 1 @0", "line 10: a connection is used twice in one step"},
		{nop + "nop after 2#1 @0", "line 10: awaits lane 2, which is none of the 2"},
		{loop + "nop after i#1 @0", "line 13: awaits lane 2, which is none of the 2"},
		{nop + "nop after 0#1 @0", "line 10: awaits its own lane"},
		{loop + "nop @1-i", "line 13: round -1 is negative"},
		{nop + "reduce multimem{1,1} in into out @0", "line 10: multimem names rank 1 twice"},
		{nop + "send in to 1 fused @0", "line 10: fused is for one multimem that is loaded and stored, " +
			"and for nothing else"},
		{nop + "reduceCopySend multimem{0,1} in into out to multimem{0,1} at out fused @0",
			"line 10: fused is for one multimem that is loaded and stored, and for nothing else"},
		{nop + "reduceSend multimem{0,1} in to multimem{0,1} at out packet fused @0",
			"line 10: fused is for one multimem that is loaded and stored, and for nothing else"},
		{nop + "reduceSend multimem{0,1} in to multimem{0,1,2} at out fused @0",
			"line 10: what is fused is loaded from the ranks to which it is stored"},
		{nop + "reduceSend scaled multimem{0,1} in to multimem{0,1} at out fused @0",
			"line 10: what is fused is not scaled: the switches only add"},
		{nop + "reduceSend multimem{0,1} in to multimem{0,1} at out fused scaled @0",
			"line 10: what is fused is not scaled: the switches only add"},
		{nop + "recvReduceCopy from put 1, in into out @0",
			"line 10: the message of a put is awaited by a step of its own: it is no operand"},
		{nop + "recv from put 1 into out @0",
			"line 10: the message of a put is awaited by a step of its own: it is no operand"},
		{nop + "wait from put 1 scaled @0",
			"line 10: the message of a put is awaited by a step of its own: it is no operand"},
		{nop + "copy scaled in into out @0", `line 10: scales, but operator "sum" has no factor`},
		{nop + "copy in into out scaled @0", `line 10: scales, but operator "sum" has no factor`},
		{nop + "copy into out @0", "line 10: there is nothing to be scaled or stored"},
		{nop + "put to 1 at out @0", "line 10: "},
		{nop + "compute 5ps in into out @0",
			"line 10: an opaque kernel takes a time and moves nothing"},
		{nop + "compute 5ps to 1 @0",
			"line 10: an opaque kernel takes a time and moves nothing"},
		{nop + "compute in into out @0", "line 10: compute takes a time, as in 5000ps, or an operation"},
		{nop + "compute (add 8 float32+float32->float32) in into out @0",
			"line 10: add reads 2 regions and writes one"},
		{nop + "compute (cast 8 float32->flot16) in into out @0", "line 10: cast: types"},
		{nop + "flush in into out @0", "line 10: a flush moves nothing"},
		{nop + "nop launch(gpu) @0", "line 10: launch: "},
		{nop + "nop launch(copy blocks=2) @0", "line 10: launch: only sms have blocks, not copy"},
		{nop + "nop launch(sms blocks=x) @0", "line 10: launch: blocks=x: a number from 1"},
		{nop + "put in to 1 at out silent relaxed @0", "line 10: "},
		{nop + "copy in into out ranked @0", "line 10: ranked is for two operands"},
		{nop + "recvReduceCopy from 1, from 2, in into out ranked @0",
			"line 10: ranked is for two operands"},
		{nop + "reduce in, scratch[0 x4] into out ranked @0", "line 10: ranked is for two operands"},
		{nop + "recvReduceCopy from 1, in into out scaled ranked @0",
			`line 10: "ranked" is not expected here`},
	} {
		_, err := Parse(Damage(t, plainText, c.edit))
		require.Error(t, err, c.edit)
		require.True(t, strings.HasPrefix(err.Error(), c.want), "%s\n%v", c.edit, err)
	}
	for _, edit := range []string{loop + "nop @2-i", nop + "nop after 1#0 @0",
		loop + "recv from 1/0 into scratch[3-i] @0", loop + "send in<2i>[3] to 2/0 @0",
		nop + "recv from 1 into scratch[3 x1 -1 x4] @0", nop + "send in to 1, 2, free 1 @0"} {
		_, err := Parse(Damage(t, plainText, edit))
		require.NoError(t, err, edit)
	}
}

// Lanes that some ranks have and others have not, peers that come near themselves: what extremes
// alone would refuse.
func TestWellFormedEveryIteration(t *testing.T) {
	const text = `schedule ragged
collective send_recv int32
ranks 5
count 4
rank 0
  lane 0
    loop 2
      send in to 3+i/i @0
rank 1
  lane 0
    loop 3
      send in to 2i/0 @0
rank 2
  lane 0
    nop @0
rank 3
  lane 0
    nop @0
rank 4
  lane 0
    nop @0
  lane 1
    nop @0
`
	_, err := Parse(text)
	require.NoError(t, err)
	_, err = Parse(Damage(t, text, "-       send in to 3+i/i @0\n+       send in to 4-i/i @0"))
	require.EqualError(t, err, "line 8: lane 1 of rank 3, which has 1")
	_, err = Parse(Damage(t, text, "-       send in to 2i/0 @0\n+       send in to i/0 @0"))
	require.EqualError(t, err, "line 12: rank 1 is its own peer")
	_, err = Parse(Damage(t, text, "-       send in to 3+i/i @0\n+       send in to 3+i/0, 4/0 @0"))
	require.EqualError(t, err, "line 8: a connection is used twice in one step")
	_, err = Parse(Damage(t, text, "-       send in to 3+i/i @0\n+       send in to 3+i/0, 4/i @0"))
	require.NoError(t, err)
}

// Sums need an operator: with custom, which may have none, and with kinds that only move.
func TestWellFormedOperator(t *testing.T) {
	const recv = "-     recv from 1 into out @0\n+     "
	_, err := Parse(Damage(t, smallText, recv+"recvReduceCopy in, from 1 into out @0"))
	require.EqualError(t, err, "line 9: combines, but send_recv has no operator")
	_, err = Parse(Damage(t, smallText, recv+"reduce multimem{0,1} in into out @0"))
	require.EqualError(t, err, "line 9: combines, but send_recv has no operator")
}

// The same rules hold for what is built: the error names rank, lane and step.
func TestWellFormedPlans(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllGather, Type: dtype.Int32, Ranks: 4, Count: 8}
	for _, c := range []struct {
		lane func(*Lane)
		want string
	}{
		{func(l *Lane) { l.Copy(l.Out(l.Rank), l.In(0)); l.Tile(1); l.Keep(l.In(0)) },
			": rank 0 lane 0 step 1: copy: tile 1 of in, which has 1"},
		{func(l *Lane) { l.Send(l.Rank+1, l.In(0).Blocks(2)) },
			": rank 0 lane 0 step 0: send: 2 blocks of in, which has 1"},
		{func(l *Lane) { l.Facing(1); l.Send(l.Rank+1, l.In(0)) },
			": rank 0 lane 0 step 0: send: lane 1 of rank 1, which has 1"},
		{func(l *Lane) { l.Combine([]Region{l.Out(0)}, nil, l.Local(l.In(0)), l.From(1+l.Rank)) },
			": rank 0 lane 0 step 0: recvReduceCopy: combines, but all_gather has no operator"},
	} {
		_, err := Build(Plan{Spec: spec, Lane: c.lane})
		require.EqualError(t, err, c.want)
	}
}

// An author without a group counts ranks and blocks as he likes; what is stored exists, and no loop
// leads beyond the last.
func TestPlansAreInRange(t *testing.T) {
	const ranks = 5
	s, err := Build(Plan{Name: "round", Chunks: ranks, Lane: func(l *Lane) {
		for i := range ranks - 1 {
			l.Send(l.Rank+1+i, l.In(l.Rank-i))
			l.Recv(l.Rank-1-i, l.Scratch(3+i))
		}
		l.Copy(l.Out(2).Blocks(ranks), l.In(3).Blocks(ranks))
	}, Scratch: 4, Spec: collective.Spec{Kind: collective.AllReduce, Type: dtype.Int32, Ranks: ranks,
		Count: 20, Op: collective.Sum}})
	require.NoError(t, err)
	again, err := Parse(s.String())
	require.NoError(t, err)
	require.True(t, Equal(s, again))
	require.Contains(t, s.String(), "copy in{3,4,0,1,2} into out{2,3,4,0,1}")
}

// A part begins and ends within its buffer, whatever it is asked for.
func TestPartsStayInside(t *testing.T) {
	const huge = 1 << 40
	for _, l := range []Level{{Split: Even, N: 3}, {Split: Ceil, N: 4}, {Split: Size, N: huge},
		{Split: Even, N: 3, Align: 7}, {Split: Even, N: huge, Align: 8},
		{Split: Size, N: 3}, {Split: Aligned, N: 1 << 24, Align: huge}, {Split: Aligned, N: 3, Align: 7},
		{Split: Table, Ends: [][]int64{{2, 2, 9}}}} {
		for _, length := range []int64{0, 1, 7, 8, collective.MaxElements} {
			end := int64(5)
			for _, i := range []int64{0, 1, 2, 3, 1 << 24, 1 << 31, huge, -1} {
				p := l.part(span{5, length}, i, 0)
				require.GreaterOrEqual(t, p.off, int64(5))
				require.GreaterOrEqual(t, p.len, int64(0))
				require.LessOrEqual(t, p.off+p.len, 5+length)
				if i > 0 && p.len > 0 {
					require.GreaterOrEqual(t, p.off, end, "%v part %d of %d", l, i, length)
				}
				end = p.off + p.len
			}
		}
	}
}
