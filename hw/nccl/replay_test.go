package nccl

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	ours "collsim/algos/nccl"
	"collsim/dtype"
	"collsim/hw/internal/recorded"
	"collsim/reference"
)

// recordings is where what a real H200 has left is kept.
const recordings = "../cuda/testdata/h200"

// TestReplay holds what the real NCCL has computed on a GPU against what algos/nccl predicts, bit
// by bit.
func TestReplay(t *testing.T) {
	folder, err := recorded.Load(recordings)
	require.NoError(t, err)
	if folder == nil {
		t.Skipf("no recording of NCCL on a GPU is in %s: nobody has had one yet", recordings)
	}
	for _, b := range folder.Bits {
		require.Empty(t, replay(b, replayed))
	}
	for _, b := range folder.Choices {
		require.Empty(t, replay(b, chosen))
	}
}

// replay lists the calls of a recording that are not as predicted, or explained where nothing is to
// be explained.
func replay(b *recorded.Bits, asPredicted func(*recorded.Call, uint64) string) (wrong []string) {
	for i := range b.Calls {
		c := &b.Calls[i]
		why := asPredicted(c, b.Seed)
		switch {
		case why != "" && c.Explained == "":
			wrong = append(wrong, c.String()+": "+why)
		case why == "" && c.Explained != "":
			wrong = append(wrong, c.String()+": it is as predicted, and explained: "+c.Explained)
		}
	}
	return wrong
}

// chosen says what NCCL has chosen otherwise than is predicted; "" if nothing.
func chosen(c *recorded.Call, _ uint64) string {
	spec, err := c.Spec()
	if err != nil {
		return err.Error()
	}
	choice, err := ours.Choose(spec, ours.Setting{Machine: c.Machine, PerNode: c.PerNode,
		Channels: c.NChannels})
	if err != nil {
		return err.Error()
	}
	predicted := fmt.Sprintf("%v, %d channels", choice.Way, choice.Used)
	way := official(c.Algorithm, "Tree", "Ring", "PAT") + " " + official(c.Protocol, "LL", "LL128",
		"Simple")
	if took := fmt.Sprintf("%s, %d channels", way, c.Hi-c.Lo+1); took != predicted {
		return took + "; predicted is " + predicted
	}
	return ""
}

// replayed says what of a call's bits and channels is not as predicted; "" if nothing is.
func replayed(c *recorded.Call, seed uint64) string {
	spec, err := c.Spec()
	if err != nil {
		return err.Error()
	}
	name := strings.ToLower(c.Algorithm)
	if spec.Ranks == 1 {
		name = "ring" // it has nobody to go to
	}
	a, err := algos.FindIn(ours.Table(), spec.Kind, ours.Prefix+name)
	if err != nil {
		return err.Error()
	}
	var o algos.Options
	for _, p := range []algos.Param{{Name: "protocol", Value: strings.ToLower(c.Protocol)},
		{Name: "nchannels", Value: strconv.Itoa(c.NChannels)}, {Name: "machine", Value: c.Machine},
		{Name: "per_node", Value: strconv.Itoa(c.PerNode)}} {
		if a.Param(p.Name, algos.Options{}) != "" && spec.Ranks > 1 {
			o.Params = append(o.Params, p)
		}
	}
	s, err := a.Build(spec, o)
	if err != nil {
		return err.Error()
	}
	if spec.Ranks > 1 {
		p := s.Program(0)
		if n := p.Channel(p.Lanes()-1) + 1; n != c.Hi-c.Lo+1 {
			return fmt.Sprintf("channels %d to %d are recorded, %d are predicted", c.Lo, c.Hi, n)
		}
	}
	var in [][]byte
	for rank := range spec.Ranks {
		in = append(in, recorded.Generated(seed, rank, spec.In(rank), spec.Type))
	}
	got, err := reference.RunBytes(s, in, reference.RunOptions{})
	if err != nil {
		return err.Error()
	}
	return c.Differs(got)
}

// The rest writes a recording as somebody would who knows nothing of the above.

// splitmix is the generator as it was published, with a state: its first output after x.
type splitmix struct{ state uint64 }

func (s *splitmix) next() uint64 {
	s.state = s.state + 11400714819323198485
	z := s.state
	z = (z ^ (z >> 30)) * 13787848793156543929
	z = (z ^ (z >> 27)) * 10723151780598845931
	return z ^ (z >> 31)
}

// draw is element i of a rank's input.
func draw(seed, rank, i uint64) uint64 {
	a := splitmix{seed}
	b := splitmix{a.next() + rank}
	c := splitmix{b.next() + i}
	return c.next()
}

// bf16 is the upper half of a float32, rounded to the nearest, to even between.
func bf16(x float32) float32 {
	u := math.Float32bits(x)
	u += 0x7fff + u>>16&1
	return math.Float32frombits(u >> 16 << 16)
}

// written is a call of a recording by the names of its fields.
type written map[string]any

// callOf is a call of sums whose outputs are bytes.
func callOf(kind, dtype, algorithm string, ranks, count int, out func(rank, i int) []byte) written {
	var outputs []string
	for rank := range ranks {
		var b []byte
		for i := range count {
			b = append(b, out(rank, i)...)
		}
		outputs = append(outputs, base64.StdEncoding.EncodeToString(b))
	}
	return written{"kind": kind, "op": "sum", "dtype": dtype, "ranks": ranks, "count": count,
		"in_place": false, "algorithm": algorithm, "protocol": "SIMPLE", "lo": 0, "hi": 0,
		"nchannels": 1, "machine": "socket", "per_node": 1, "outputs": outputs}
}

// syntheticCalls are sums by hand: a ring's of float32, of three ranks and a chunk of 4 elements
// for each; a tree's of bfloat16, of three nodes, whose root 0 has child 2, and that 1; PAT's of
// float32; and integers, of which any order is right, as checksums.
func syntheticCalls(seed uint64) []written {
	x := func(rank, i int) float32 {
		z := draw(seed, uint64(rank), uint64(i))
		return float32(float64(int64(z>>40)-8388608) / float64(int64(1048576)<<(z%8)))
	}
	f32 := func(x float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)) }
	ring := callOf("all_reduce", "float32", "RING", 3, 11, func(_, i int) []byte {
		c := i / 4
		return f32(x(c%3, i) + (x((c+2)%3, i) + x((c+1)%3, i)))
	})
	tree := callOf("all_reduce", "bfloat16", "TREE", 3, 40, func(_, i int) []byte {
		y := func(rank int) float32 { return bf16(x(rank, i)) }
		u := math.Float32bits(bf16(y(0) + bf16(y(2)+y(1))))
		return []byte{byte(u >> 16), byte(u >> 24)}
	})
	pat := callOf("reduce_scatter", "float32", "PAT", 4, 9, func(rank, i int) []byte {
		y := func(other int) float32 { return x((rank+other)%4, rank*9+i) }
		return f32(y(3) + ((y(1) + y(2)) + y(0)))
	})
	integers := callOf("all_reduce", "uint64", "RING", 2, 1000, func(_, i int) []byte {
		return binary.LittleEndian.AppendUint64(nil,
			draw(seed, 0, uint64(i))+draw(seed, 1, uint64(i)))
	})
	var sums []string
	for _, text := range integers["outputs"].([]string) {
		b, _ := base64.StdEncoding.DecodeString(text)
		sum := sha256.Sum256(b)
		sums = append(sums, hex.EncodeToString(sum[:]))
	}
	delete(integers, "outputs")
	integers["sha256"] = sums
	return []written{ring, tree, pat, integers}
}

// load writes a recording and reads it.
func load(t *testing.T, calls []written) *recorded.Bits {
	t.Helper()
	dir := t.TempDir()
	text, err := json.Marshal(written{"command": "record.sh", "date": "2026-01-01", "gpu": "none",
		"driver": "none", "cuda": "none", "nccl": "none: by hand", "generator": "splitmix64", "seed": 5,
		"planned": len(calls), "calls": calls})
	require.NoError(t, err)
	sum := sha256.Sum256(text)
	for name, b := range map[string][]byte{"nccl-bits-1.json": text, "README.md": []byte("by hand"),
		"SHA256SUMS": fmt.Appendf(nil, "%x  nccl-bits-1.json\n", sum)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
	folder, err := recorded.Load(dir)
	require.NoError(t, err)
	require.Len(t, folder.Bits, 1)
	return folder.Bits[0]
}

// TestSynthetic: a recording that was written by hand is replayed, and agrees.
func TestSynthetic(t *testing.T) {
	b := load(t, syntheticCalls(5))
	require.Len(t, b.Calls, 4)
	require.Empty(t, replay(b, replayed))
}

// TestSyntheticDiffers: a bit, another order, another algorithm, another number of channels and an
// explanation of nothing are told with their place.
func TestSyntheticDiffers(t *testing.T) {
	flip := func(text string) string {
		b, _ := base64.StdEncoding.DecodeString(text)
		b[17] ^= 1
		return base64.StdEncoding.EncodeToString(b)
	}
	for _, c := range []struct {
		call   int
		change func(written)
		want   string
	}{
		{0, func(w written) { o := w["outputs"].([]string); o[1] = flip(o[1]) }, "rank 1 element 4: "},
		{0, func(w written) { w["algorithm"] = "TREE" }, "rank 0 element "},
		{2, func(w written) { w["algorithm"] = "RING" }, "rank 0 element "},
		{3, func(w written) { w["sha256"].([]string)[1] = strings.Repeat("0", 64) },
			"rank 1: another checksum"},
		{0, func(w written) { w["hi"] = 1 }, "channels 0 to 1 are recorded, 1 are predicted"},
		{1, func(w written) { w["explained"] = "who knows" }, "as predicted, and explained: who knows"},
		{0, func(w written) { w["outputs"].([]string)[0] = "AAAA" }, "3 bytes are recorded, 44"},
		{0, func(w written) { w["algorithm"] = "COLLNETCHAIN" }, `no algorithm "nccl:collnetchain"`},
		{0, func(w written) { w["algorithm"] = "NVLS" }, "by NVLS Simple: it needs 2 GPUs a node"},
	} {
		calls := syntheticCalls(5)
		c.change(calls[c.call])
		wrong := replay(load(t, calls), replayed)
		require.Len(t, wrong, 1)
		require.Contains(t, wrong[0], c.want)
	}
	calls := syntheticCalls(5)
	o := calls[0]["outputs"].([]string)
	o[0] = flip(o[0])
	calls[0]["explained"] = "a bit was flipped"
	require.Empty(t, replay(load(t, calls), replayed))
}

// TestGenerated: the generator is splitmix64, whose first outputs for 1234567 are published.
func TestGenerated(t *testing.T) {
	s := splitmix{1234567}
	require.Equal(t, []uint64{6457827717110365317, 3203168211198807973},
		[]uint64{s.next(), s.next()})
	b := recorded.Generated(5, 3, 100, dtype.Int16)
	for i := range 100 {
		require.Equal(t, uint16(draw(5, 3, uint64(i))), binary.LittleEndian.Uint16(b[2*i:]))
	}
}
