package nccl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestTuner: the first line that matches decides, but one of a way that NCCL has not does not. A
// call that none matches takes 1 channel, as does −1, and 0 is NCCL's own number
// (plugins/tuner/example/plugin.c). 8 H100 have 24 channels, and 16 of NVLS.
func TestTuner(t *testing.T) {
	const own = "Ring LL"
	for _, test := range []struct {
		lines           string
		bytes           int64
		op              collective.Op
		want            string
		channels, taken int // that it may take, and takes
	}{
		{"", 1 << 20, collective.Sum, own, 1, 1},
		{"allreduce,0,1048576,tree,simple,4,1,8", 1 << 20, collective.Sum, "Tree Simple", 4, 4},
		{"allreduce,0,1048575,tree,simple,4,1,8", 1 << 20, collective.Sum, own, 1, 1},
		{"allreduce,1048577,9999999,tree,simple,4,1,8", 1 << 20, collective.Sum, own, 1, 1},
		{"allreduce,0,1048576,tree,simple,-1,-1,-1", 1 << 20, collective.Sum, "Tree Simple", 1, 1},
		{"allreduce,0,1048576,ring,ll,0,-1,-1", 1 << 20, collective.Sum, own, 24, 24},
		{"allreduce,0,1048576,ring,ll,99,-1,-1", 1 << 20, collective.Sum, own, 24, 24},
		{"allreduce,0,1048576,tree,ll,8,2,8", 1 << 20, collective.Sum, own, 1, 1},
		{"allreduce,0,1048576,tree,ll,8,1,16", 1 << 20, collective.Sum, own, 1, 1},
		{"allreduce,0,1048576,tree,ll,8,1,8,2", 1 << 20, collective.Sum, own, 1, 1},
		{"allreduce,0,1048576,tree,ll,8,1,8,1,1", 1 << 20, collective.Sum, own, 1, 1},
		{"allreduce,0,1048576,tree,ll,8,1,8,1,0", 1 << 20, collective.Sum, "Tree LL", 8, 8},
		{"allgather,0,1048576,ring,simple,8,1,8", 1 << 20, collective.Sum, own, 1, 1},
		{"allreduce,0,1048576,nvls_tree,simple,4,1,8\nallreduce,0,1048576,ring,ll128,2,-1,-1", 1 << 20,
			collective.Sum, "Ring LL128", 2, 2},
		{"allreduce,0,1048576,nvls,simple,4,1,8\nallreduce,0,1048576,ring,ll128,2,-1,-1", 1 << 20,
			collective.Sum, "NVLS Simple", 4, 4},
		{"allreduce,0,1048576,nvls,simple,4,1,8\nallreduce,0,1048576,ring,ll128,2,-1,-1", 1 << 20,
			collective.Max, "Ring LL128", 2, 2},
		{"allreduce,0,1048576,collnet_direct,simple,4,1,8\nallreduce,0,1048576,tree,ll,2,-1,-1", 1 << 20,
			collective.Sum, "Tree LL", 2, 2},
		{"# comment\n\n" + "allreduce, 0 ,1048576,tree,ll,\t8,1,8", 1 << 20, collective.Sum, "Tree LL", 8,
			8},
		{"collective_type,min_bytes,max_bytes\nallreduce,0,1048576,tree,ll,8,1,8", 1 << 20,
			collective.Sum, "Tree LL", 8, 8},
		{"allreduce,0,18446744073709551615,nvls,simple,64,1,8", 1 << 30, collective.Sum, "NVLS Simple",
			16, 16},
	} {
		tuner, err := ParseTuner(test.lines + "\n")
		require.NoError(t, err, test.lines)
		spec := collective.Spec{Kind: collective.AllReduce, Op: test.op, Type: dtype.Float32, Ranks: 8,
			Count: test.bytes / 4}
		c, err := Choose(spec, Setting{Tuner: tuner})
		require.NoError(t, err, test.lines)
		require.Equal(t, test.want, c.Way.String(), test.lines)
		require.Equal(t, test.channels, c.Channels, test.lines)
		require.Equal(t, test.taken, c.Used, test.lines)
	}
}

// TestTunerForced: a way that somebody asks for stays, and takes the channels of its line.
func TestTunerForced(t *testing.T) {
	tuner, err := ParseTuner("allreduce,0,9999999,tree,ll,8,1,8\nallreduce,0,9999999,ring,ll,4,1,8\n")
	require.NoError(t, err)
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 8, Count: 1 << 18}
	c, err := Choose(spec, Setting{Tuner: tuner, Among: []Way{{Ring, LL}}})
	require.NoError(t, err)
	require.Equal(t, "Ring LL 4", fmt.Sprint(c.Way, " ", c.Channels))
}

// TestTunerRefused: what the plugin would take for something else is an error with its line.
func TestTunerRefused(t *testing.T) {
	const whole, bytes = "a whole number from -1 on is expected", "a number of bytes is expected"
	for _, test := range []struct{ lines, want string }{
		{"allreduce,0,1,ring,ll,1,1", "line 1: 7 fields; 8 to 10 are expected"},
		{"allreduce,0,1,ring,ll,1,1,1,1,1,1", "line 1: 11 fields; 8 to 10 are expected"},
		{"#\nall_reduce,0,1,ring,ll,1,1,1", "line 2: \"all_reduce\": one of broadcast, reduce, "},
		{"allreduce,0,1,rings,ll,1,1,1", "the plugin takes it for ring"},
		{"allreduce,0,1,ring,LL,1,1,1", "the plugin takes it for simple"},
		{"allreduce,x,1,ring,ll,1,1,1", "\"x\": " + bytes},
		{"allreduce,0,-1,ring,ll,1,1,1", "\"-1\": " + bytes},
		{"allreduce,2,1,ring,ll,1,1,1", "2 to 1 bytes: no call has so many"},
		{"allreduce,0,1,ring,ll,many,1,1", "\"many\": " + whole},
		{"allreduce,0,1,ring,ll,-2,1,1", "\"-2\": " + whole},
		{"allreduce,0,1,ring,ll,1,1,", "\"\": " + whole},
		{"allreduce,0,1,ring,ll,1,1,9999999999", whole},
		{"allreduce,0,1,ring,ll,1,1," + strings.Repeat(" ", 250) + "1", "the plugin reads 254"},
	} {
		_, err := ParseTuner(test.lines)
		require.ErrorContains(t, err, test.want, test.lines)
	}
}

// TestTunerWritten: a line that is written is read as it was.
func TestTunerWritten(t *testing.T) {
	kinds := Kinds()
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(1))
	properties.Property("written and read", prop.ForAll(func(k, a, p, channels, nodes, ranks int,
		from, more uint64) bool {
		l := TunerLine{Kind: kinds[k], From: from, To: from + more, Way: Way{Algorithm(a), Protocol(p)},
			Channels: channels, Nodes: nodes, Ranks: ranks, PipeOps: AnyTuned, RegBuff: AnyTuned, Number: 1}
		back, err := ParseTuner(l.String() + "\n")
		return err == nil && len(back.Lines) == 1 && back.Lines[0] == l
	}, gen.IntRange(0, len(kinds)-1), gen.IntRange(0, int(algorithms)-1),
		gen.IntRange(0, int(protocols)-1), gen.IntRange(-1, 64), gen.IntRange(-1, 64),
		gen.IntRange(-1, 512), gen.UInt64Range(0, 1<<62), gen.UInt64Range(0, 1<<62)))
	properties.TestingRun(t)
}

// TestTunerThresholds: where a file has a call done otherwise is a threshold, to the byte.
func TestTunerThresholds(t *testing.T) {
	tuner, err := ParseTuner("allreduce,1000,4999,tree,simple,4,1,8\n")
	require.NoError(t, err)
	require.Equal(t, []int64{250, 251, 1250, 1250}, tuner.ends(collective.AllReduce, 4))
	require.Empty(t, tuner.ends(collective.AllGather, 32))
}

// FuzzParseTuner: no file has it panic, and what is read is written and read as it was.
func FuzzParseTuner(f *testing.F) {
	f.Add("# x\nallreduce,0,1,ring,ll,1,1,1\nreduce,0,4294967295,tree,simple,-1,-1,-1,1,0\n")
	f.Fuzz(func(t *testing.T, text string) {
		tuner, err := ParseTuner(text)
		if err != nil {
			return
		}
		for _, l := range tuner.Lines {
			back, err := ParseTuner(l.String())
			if len(l.String()) > longestLine {
				continue
			}
			if err != nil || len(back.Lines) != 1 {
				t.Fatalf("%v: %v", l, err)
			}
			if back.Lines[0].Number = l.Number; back.Lines[0] != l {
				t.Fatalf("%v is not %v", back.Lines[0], l)
			}
		}
	})
}
