package msccl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/internal/foreign"
	"collsim/formats/msccl"
	"collsim/schedule"
)

// copies is a file of one gpu, which is all that limits are about: thread blocks of so many copies
// of so many chunks, each block on the channel that channel tells.
func copies(blocks, steps, count int, channel func(block int) int) string {
	var b strings.Builder
	chunks, channels := blocks*steps*count, 1
	for i := range blocks {
		channels = max(channels, channel(i)+1)
	}
	fmt.Fprintf(&b, `<algo name="copies" proto="Simple" nchannels="%d" nchunksperloop="%d" ngpus="1" `+
		"coll=\"allreduce\" inplace=\"0\">\n<gpu id=\"0\" i_chunks=\"%d\" o_chunks=\"%d\" "+
		"s_chunks=\"0\">\n", channels, chunks, chunks, chunks)
	for i := range blocks {
		fmt.Fprintf(&b, "<tb id=\"%d\" send=\"-1\" recv=\"-1\" chan=\"%d\">\n", i, channel(i))
		for s := range steps {
			at := (i*steps + s) * count
			fmt.Fprintf(&b, `<step s="%d" type="cpy" srcbuf="i" srcoff="%d" dstbuf="o" dstoff="%d" `+
				"cnt=\"%d\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n", s, at, at, count)
		}
		b.WriteString("</tb>\n")
	}
	return b.String() + "</gpu>\n</algo>\n"
}

func zero(int) int { return 0 }

// The runtimes' limits, from both sides.
func TestLimits(t *testing.T) {
	same := func(i int) int { return i }
	for _, c := range []struct {
		file, runtime, want string
	}{
		{copies(1, 256, 1, zero), "", ""},
		{copies(1, 257, 1, zero), "", "line 260: gpu 0 tb 0 step 256: cpy: limit: rank 0 lane 0 " +
			"step 256: tb 0 has a step 256; msccl holds steps 0…255"},
		{copies(1, 64, 1, zero), "rccl", ""},
		{copies(1, 65, 1, zero), "rccl", "line 68: gpu 0 tb 0 step 64: cpy: limit: rank 0 lane 0 " +
			"step 64: tb 0 has a step 64; rccl holds steps 0…63"},
		{copies(1, 300, 1, zero), "none", ""},
		{copies(216, 1, 1, zero), "", ""},
		{copies(217, 1, 1, zero), "msccl", "line 651: gpu 0 tb 216: limit: rank 0 lane 216: gpu 0 " +
			"has 217 thread blocks; msccl holds 216"},
		{copies(65, 1, 1, zero), "rccl", "line 195: gpu 0 tb 64: limit: rank 0 lane 64: gpu 0 has 65 " +
			"thread blocks; rccl holds 64"},
		{copies(2, 1, 71, zero), "", ""},
		{copies(2, 1, 72, zero), "", "line 4: gpu 0 tb 0 step 0: cpy: limit: rank 0 lane 0 step 0: " +
			"cnt=\"72\" of tb 0 step 0; msccl takes less than 72"},
		{copies(2, 1, 72, zero), "none", ""},
		{copies(32, 1, 1, same), "", ""},
		{copies(33, 1, 1, same), "", "line 99: gpu 0 tb 32: limit: rank 0 lane 32: tb 32 is on " +
			"channel 32; msccl has channels 0…31"},
		{copies(200, 200, 1, zero), "", "line 2: gpu 0: limit: rank 0: gpu 0 has a buffer " +
			"of 40000 chunks; the offsets of msccl are numbers of 16 bits"},
	} {
		f, err := msccl.Read(strings.NewReader(c.file), foreign.Options{Runtime: c.runtime})
		require.NoError(t, err)
		_, lines := judge(f)
		if c.want == "" {
			require.Empty(t, lines)
			continue
		}
		require.Contains(t, strings.Join(lines, "\n"), c.want)
		require.Equal(t, schedule.Limit, f.Found[0].Kind)
	}
}

// At most 32 thread blocks of a channel send, and 32 receive.
func TestThreadBlocksOfAChannel(t *testing.T) {
	star := func(leaves int) string {
		var b strings.Builder
		fmt.Fprintf(&b, `<algo name="star" proto="LL" nchannels="1" nchunksperloop="1" ngpus="%d" `+
			`coll="broadcast" inplace="1">`+"\n", leaves+1)
		tb := func(id, send, receive int, kind string) {
			fmt.Fprintf(&b, `<tb id="%d" send="%d" recv="%d" chan="0"><step s="0" type="%s" `+
				`srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>`+
				"</tb>\n", id, send, receive, kind)
		}
		for g := range leaves + 1 {
			fmt.Fprintf(&b, `<gpu id="%d" i_chunks="0" o_chunks="1" s_chunks="0">`, g)
			for i := 0; g == 0 && i < leaves; i++ {
				tb(i, i+1, -1, "s")
			}
			if g > 0 {
				tb(0, -1, 0, "r")
			}
			b.WriteString("</gpu>\n")
		}
		return b.String() + "</algo>"
	}
	for i, want := range []string{"", "more than 32 thread blocks send on channel 0"} {
		leaves := 32 + i
		f, err := msccl.Read(strings.NewReader(star(leaves)), foreign.Options{})
		require.NoError(t, err)
		_, lines := judge(f)
		if want == "" {
			require.Empty(t, lines)
			continue
		}
		require.Contains(t, strings.Join(lines, "\n"), want)
	}
}

// What the steps of a schedule are in the file, through tiles and counts that are split.
func TestWhere(t *testing.T) {
	// 8 chunks of 8,192 floats are a tile each; cnt 4 is 4 steps, twice; then 2 tiles of each.
	file := copies(1, 2, 4, zero)
	for _, c := range []struct {
		count int64
		steps []string // of every step of the lane
	}{
		{8 * 8, []string{"0", "1"}},
		{8 * 8192, []string{"0", "0", "0", "0", "1", "1", "1", "1"}},
		{8 * 2730, []string{"0", "0", "1", "1"}}, // three chunks in a tile
		{8 * 8193, strings.Split(strings.Repeat("0 0 0 0 1 1 1 1 ", 2), " ")[:16]},
	} {
		f, err := msccl.Read(strings.NewReader(file), foreign.Options{Count: c.count, Protocol: "LL"})
		require.NoError(t, err)
		proof, lines := judge(f)
		require.Empty(t, lines)
		require.Equal(t, len(c.steps), int(proof.Steps))
		for i, want := range c.steps {
			at := f.Where(0, 0, i)
			require.Equal(t, "gpu 0 tb 0 step "+want+": cpy", at.Text)
			require.Equal(t, want, fmt.Sprint(at.Step))
			require.Equal(t, 4+at.Step, at.Line)
		}
		require.Equal(t, "line 3: gpu 0 tb 0", f.Where(0, 0, len(c.steps)).String())
		require.Equal(t, "line 3: gpu 0 tb 0", f.Where(0, 0, -1).String())
		require.Equal(t, "line 2: gpu 0", f.Where(0, 1, 0).String())
		require.Equal(t, "", f.Where(1, 0, 0).String())
	}
}

// A program of at most 64 steps is stored once, whatever the number of tiles.
func TestTilesAreALoop(t *testing.T) {
	f, err := msccl.Read(strings.NewReader(copies(1, 64, 1, zero)),
		foreign.Options{Count: 64 * 8192 * 1000, Protocol: "LL"})
	require.NoError(t, err)
	text := f.Schedule.String()
	require.Contains(t, text, "loop 1000\n")
	require.Less(t, len(text), 4000)
}
