package proof

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLayers: an all-gather and matmul of 2 to 8 ranks is right in three calls in a row; without
// the barrier at its end, a workspace may be read in one call that is written in the next.
func TestLayers(t *testing.T) {
	for ranks := 2; ranks <= 8; ranks++ {
		text := layer(ranks, 3, 4, 2)
		require.Contains(t, verdict(mustParse(t, text), Options{Iterations: 3}), "proved")
		open := mustParse(t, text[:strings.LastIndex(text, "post\n")+len("post\n")])
		require.Contains(t, verdict(open, Options{Iterations: 1}), "proved")
		require.Contains(t, verdict(open, Options{Iterations: 3}), "in call 1 reads and rank 0 lane 1 "+
			"step 0 in call 2 writes ws element 0 of rank 0; nothing orders them")
	}
}

// TestManyParts: parts on two streams follow one another without more being said.
func TestManyParts(t *testing.T) {
	p, found := Verify(many(t, 20), Options{Iterations: 3})
	require.Empty(t, found)
	require.Equal(t, 3, p.Iterations)
	require.Equal(t, 2, p.MinSlots)
	require.Empty(t, p.Undefined)
	// 12 ring all-reduces of 4096 elements, 6 all-gathers of 512: 2·7·16384 bytes and 8·7·2048
	require.Equal(t, int64(12*2*7*16384+6*8*7*2048), p.BytesSent)
}

// TestKernelsInCollectives: a collective may use kernels to compute what it is.
func TestKernelsInCollectives(t *testing.T) {
	text := `schedule sum by kernel
collective all_reduce float32 sum
ranks 2
count 4
group 2
scratch 8
cut scratch block even 2
rank *
  lane 0
    send in to 1 @0
    copy in into scratch[0] @0
    recv from 1 into scratch[1] @0
    compute (sum 2x4 axis=0 float32->float32) scratch[0 x2] into out @1
`
	require.Contains(t, verdict(mustParse(t, text), Options{}), "proved")
	require.Contains(t, verdict(mustParse(t, damage(t, text,
		"-     copy in into scratch[0] @0\n+     copy in into scratch[1] @0")), Options{}),
		"reads scratch of rank 0, whose elements 0 to 3 nobody has written")
	require.Contains(t, verdict(mustParse(t, strings.Replace(text, "(sum", "(mean", 1)), Options{}),
		"misplaced: rank 0 chunk 0: out elements 0 to 3 are wrong: the first holds element 0 of in of "+
			"rank 0 times 1/2 instead of 1, written by rank 0 lane 0 step 3")
	avg := strings.Replace(strings.Replace(text, "(sum", "(mean", 1), "float32 sum", "float32 avg", 1)
	require.Contains(t, verdict(mustParse(t, avg), Options{}), "proved")
	_, err := OrdersOf(mustParse(t, text), nil)
	require.ErrorIs(t, err, errComputes)
	max := strings.Replace(text, "float32 sum", "float32 max", 1)
	require.Contains(t, verdict(mustParse(t, max), Options{}),
		"holds sum of in of rank 0, in of rank 1 instead of max of in of rank 0, in of rank 1")
}

// TestTypesOfMessages: a message has no type of its own, but where it comes from has.
func TestTypesOfMessages(t *testing.T) {
	text := `schedule types
collective custom float32 sum
ranks 2
tensor x given bfloat16 4
tensor y inner float32 4
tensor z result float32 4
rank 0
  lane 0
    send x to 1 @0
    recvReduceCopy from 1, y into z @1
rank 1
  lane 0
    recv from 0 into z @0
    send x to 0 @1
`
	require.Equal(t, "malformed: rank 0 lane 0 step 1 chunk 0: recvReduceCopy combines bfloat16 with "+
		"float32\nmalformed: rank 1 lane 0 step 0 chunk 0: recv stores bfloat16 in z, which is of "+
		"float32\n", verdict(mustParse(t, damage(t, text, "- tensor y inner float32 4\n"+
		"+ tensor y given float32 4")), Options{}))
}

// TestSymmetric: one-sided access by any rank and any means needs symmetric memory.
func TestSymmetric(t *testing.T) {
	text := `schedule reach
collective custom float32 sum
ranks 2
tensor x given float32 4 symmetric
tensor y result float32 4 symmetric
rank 0
  lane 0
    put x to 1 at y @0
    reduce multimem{0,1} x into y @1
    wait from 1 @1
rank 1
  lane 0
    wait from put 0 @0
    signal to 0 @1
`
	s := mustParse(t, text)
	p, found := Verify(s, Options{Iterations: 1})
	require.Nil(t, p)
	require.Len(t, found, 1, "the caller of rank 1 may not have written x yet")
	text = damage(t, text, "-     put x to 1 at y @0\n+     wait from 1 @0\n"+
		"+     put x to 1 at y @0\n"+
		"-     wait from put 0 @0\n+     signal to 0 @0\n+     wait from put 0 @0")
	p, found = Verify(mustParse(t, text), Options{Iterations: 1})
	require.Empty(t, found)
	require.Equal(t, []string{"y"}, p.Undefined)
	for _, c := range []struct{ was, want string }{
		{"tensor y result float32 4 symmetric",
			"malformed: rank 0 lane 0 step 1 chunk 0: put writes y of rank 1 one-sided, which is not " +
				"symmetric memory\n"},
		{"tensor x given float32 4 symmetric",
			"malformed: rank 0 lane 0 step 2 chunk 0: reduce reads x of rank 0 one-sided, which is " +
				"not symmetric memory\nmalformed: rank 0 lane 0 step 2 chunk 0: reduce reads x of rank 1 " +
				"one-sided, which is not symmetric memory\n"},
	} {
		private := strings.Replace(text, c.was, strings.TrimSuffix(c.was, " symmetric"), 1)
		require.Equal(t, c.want, verdict(mustParse(t, private), Options{Iterations: 1}))
	}
}

// TestUndefined: a result that no line defines must be written, and that is said.
func TestUndefined(t *testing.T) {
	text := `schedule open
collective custom float32
ranks 1
tensor x given float32 4
tensor y result float32 4
tensor z result float32 4
define z = (cast 4 float32->float32) of x
rank 0
  lane 0
    copy x into y @0
    copy x into z @0
`
	p, found := Verify(mustParse(t, text), Options{})
	require.Empty(t, found)
	require.Equal(t, []string{"y"}, p.Undefined)
	require.Equal(t, "missing: rank 0 chunk 0: y elements 0 to 3 are never written\n",
		verdict(mustParse(t, damage(t, text, "-     copy x into y @0")), Options{}))
}
