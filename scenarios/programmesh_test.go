package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// meshText is a layer on a mesh; meshByHand is the same with groups, parts and calls as they are.
const meshText = `[topology]
preset = "switch"
ranks = 8
bandwidth = "50 GB/s"
latency = "1 us"
[program]
mesh = [2, 4]
axes = ["dp", "tp"]
length = [{ name = "tokens", length = 64 }, { name = "hidden", length = 32 }]
tensor = [{ name = "x", shape = ["tokens", "hidden"], placement = ["shard(0)", "shard(1)"] },
  { name = "w", shape = ["hidden", "4*hidden"], placement = ["replicate", "shard(1)"] },
  { name = "v", shape = ["4*hidden", "8*hidden/8"], placement = ["replicate", "shard(0)"] },
  { name = "y", shape = ["tokens", "hidden"], placement = ["shard(0)", "partial"] },
  { name = "y2", shape = ["tokens", "hidden"], placement = ["replicate", "shard(0)"] }]
op = [{ name = "gather", call = "redistribute", in = "x", out = "xs",
    placement = ["shard(0)", "replicate"], async = true, stream = "side" },
  { name = "up", kernel = "matmul", in = ["xs", "w"], out = "h" },
  { name = "down", kernel = "matmul", in = ["h", "v"], out = "y" },
  { name = "sum", call = "redistribute", in = "y", out = "y2", after = "up" },
  { name = "wide", kernel = "expand axis=0 times={hidden}", in = "y2", out = "z", after = "sum" },
  { name = "whole", call = "redistribute", in = "xs", out = "xa",
    placement = ["replicate", "replicate"] }]
`

const meshByHand = `[topology]
preset = "switch"
ranks = 8
bandwidth = "50 GB/s"
latency = "1 us"
[program]
group = [{ name = "dp", ranks = [[0, 4], [1, 5], [2, 6], [3, 7]] },
  { name = "tp", ranks = [[0, 1, 2, 3], [4, 5, 6, 7]] }]
tensor = [{ name = "x", shape = [32, 8] }, { name = "w", shape = [32, 32] },
  { name = "v", shape = [32, 32] }, { name = "y", shape = [32, 32] },
  { name = "y2", shape = [16, 32] }]
op = [{ name = "gather", call = "all_gather axis 1", in = "x", out = "xs", group = "tp",
    async = true, stream = "side" },
  { name = "up", kernel = "matmul", in = ["xs", "w"], out = "h" },
  { name = "down", kernel = "matmul", in = ["h", "v"], out = "y" },
  { name = "sum[0]", call = "all_reduce", in = "y", out = "y2_0", group = "tp", after = "up" },
  { name = "sum[1]", call = "all_gather", in = "y2_0", out = "y2_1", group = "dp" },
  { name = "sum[2]", kernel = "shard axis=0 over=tp", in = "y2_1", out = "y2" },
  { name = "wide", kernel = "expand axis=0 times=32", in = "y2", out = "z", after = "sum[2]" },
  { name = "whole", call = "all_gather", in = "xs", out = "xa", group = "dp" }]
`

// TestMesh: a program on a mesh is that of its groups, parts and calls.
func TestMesh(t *testing.T) {
	one, err := load("s.toml", []byte(meshText), testOptions())
	require.NoError(t, err)
	other, err := load("s.toml", []byte(meshByHand), testOptions())
	require.NoError(t, err)
	is, want := one.Programs[0], other.Programs[0]
	require.Equal(t, want.Groups, is.Groups)
	for i := range is.Tensors {
		require.Equal(t, want.Tensors[i].Shape, is.Tensors[i].Shape, is.Tensors[i].Name)
	}
	require.Len(t, is.Ops, len(want.Ops))
	for i := range is.Ops {
		is.Ops[i].At = want.Ops[i].At
		require.Equal(t, want.Ops[i], is.Ops[i])
	}
	require.Equal(t, []string{
		"gather redistributes x from [shard(0), shard(1)]: all_gather axis 1 over tp (shard(1) to " +
			"replicate)",
		"sum redistributes y from [shard(0), partial]: all_reduce over tp (partial to replicate), " +
			"all_gather over dp (shard(0) to replicate), a part of what each rank has over tp " +
			"(replicate to shard(0))",
		"whole redistributes xs from [shard(0), replicate]: all_gather over dp (shard(0) to " +
			"replicate)"}, is.Notes)
}

// TestMeshErrors: what cannot be, one change after the other.
func TestMeshErrors(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"mesh = [2, 4]", "mesh = [2, 3]", "a mesh of 2 x 3 does not have the 8 ranks"},
		{"mesh = [2, 4]", "", "there is no mesh that has them"},
		{`axes = ["dp", "tp"]`, "", "its 2 axes have no names"},
		{`axes = ["dp", "tp"]`, `axes = ["dp"]`, "2 axes have 1 names"},
		{`axes = ["dp", "tp"]`, `axes = ["dp", "dp"]`, "a name of its own is expected"},
		{`[program]`, "[program]\ngroup = [{ name = \"tp\", ranks = [[0, 1]] }]",
			"\"tp\" is an axis of the mesh"},
		{`{ name = "tokens", length = 64 }`, `{ name = "tokens", length = 63 }`,
			"shard(0) over dp: a length of 63 is not divisible by 2 ranks"},
		{`"shard(0)", "shard(1)"]`, `"shard(0)"]`, "1 on a mesh of 2 x 4; one for each axis is expected"},
		{`"shard(0)", "shard(1)"]`, `"shard(0)", "split(1)"]`, "\"split(1)\" is no placement"},
		{`"shard(0)", "shard(1)"]`, `"shard(0)", "replicate"]`, "x is placed so"},
		{`"shard(0)", "shard(1)"] },`, `"shard(0)", "shard(7)"] },`, "an axis below 2 is expected"},
		{`in = "x",`, `in = "x2",`, "how x2 is placed is not known"},
		{`placement = ["shard(0)", "replicate"], async`, "async", "where to is not known"},
		{`in = "y", out = "y2"`, `in = "y", out = "y2", placement = ["replicate", "replicate"]`,
			"y2 is declared with another"},
		{`in = "y", out = "y2"`, `in = "y", out = "y2", group = "tp"`, "the groups are axes of the mesh"},
		{`in = "y", out = "y2"`, `in = ["y", "x"], out = "y2"`, "one tensor in and one out are expected"},
		{`placement = ["replicate", "shard(0)"] }]`, `placement = ["partial", "shard(0)"] }]`,
			"shard(0) does not become partial"},
		{`["xs", "w"], out = "h"`, `["xs", "w"], out = "h", placement = ["replicate", "replicate"]`,
			"it is of call = \"redistribute\""},
		{`"4*hidden", "8*hidden/8"`, `"4*hidden", "hidden/5"`, "32 is not divisible by 5"},
		{`"4*hidden", "8*hidden/8"`, `"4*hidden", "hidden/0"`, "32 is not divisible by 0"},
		{`"4*hidden", "8*hidden/8"`, `"4*hiden", "8*hidden/8"`, "did you mean \"hidden\"?"},
		{`"4*hidden", "8*hidden/8"`, `"4*hidden", "hidden**2"`, "no length is called \"\""},
		{`"4*hidden", "8*hidden/8"`, `"4*hidden", 1.5`, "names of lengths in quotes, is expected"},
		{`"4*hidden", "8*hidden/8"`, `"1125899906842624*hidden", 8`,
			"at most 1125899906842624 is expected"},
		{`times={hidden}`, `times={heads}`, "no length is called \"heads\""},
		{`"hidden", length = 32`, `"tokens", length = 32`, "a second length \"tokens\""},
		{`"hidden", length = 32`, `"a/b", length = 32`, "\"a/b\" is no name of a length"},
		{`"hidden", length = 32`, `"12", length = 32`, "\"12\" is no name of a length"},
	} {
		require.Contains(t, meshText, c.before)
		text := strings.Replace(meshText, c.before, c.after, 1)
		_, err := load("s.toml", []byte(text), testOptions())
		require.ErrorContains(t, err, c.want, "%s", c.after)
	}
}

// TestSweptLength: a length is swept in all shapes at once, and one that nothing has is idle.
func TestSweptLength(t *testing.T) {
	o := testOptions()
	o.Set = []string{`sweep."program.length[0].length"=[64,128]`}
	s, err := load("s.toml", []byte(meshText), o)
	require.NoError(t, err)
	require.Equal(t, int64(32), s.Programs[0].Tensors[0].Shape[0])
	require.Equal(t, int64(64), s.Programs[1].Tensors[0].Shape[0])
	require.Equal(t, int64(64), s.Programs[1].Tensors[3].Shape[0])

	text := strings.Replace(meshText, "length = 32 }", `length = 32 }, { name = "c", length = 1 }`, 1)
	o.Set = []string{`sweep."program.length[2].length"=[1,2]`}
	_, err = load("s.toml", []byte(text), o)
	require.ErrorContains(t, err, "has no effect: no shape and no op has it")
}
