package collsim

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/schedule/foreign"
)

// TestFormatOf: a format is told by how a file begins, behind blanks and comments, else by its
// extension; JSON never by that alone.
func TestFormatOf(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"x.xml", `<algo name="a">`, "msccl"},
		{"x", "<?xml version=\"1.0\"?>\n<!-- <Algo> -->\n<algo\n", "msccl"},
		{"x.xml", "\xef\xbb\xbf <Algo nchunkspernode=\"1\">", "forestcoll"},
		{"x.xml", "<!-- a comment without an end", "msccl"},
		{"x.txt", "<algorithm>", ""},
		{"x.json", `{"name": "a", "gpus": []}`, "mscclpp"},
		{"x.json", `{"msccl_type": "algorithm"}`, "sccl"},
		{"x.json", `{"sccl_type": "algorithm"}`, "sccl"},
		{"x.json", `{"1-Epoch_Duration": 1}`, "teccl"},
		{"x.json", `{"TopologyParams": {}}`, "teccl"},
		{"x.json", `{"nodes": [{"ctrl_deps": 1}]}`, "chakra"},
		{"x.json", `{"nodes": []}`, ""},
		{"x.json", `["gpus"]`, ""},
		{"x", "// a\n/* b\n*/ num_ranks 4\n", "goal"},
		{"x.goal", "", "goal"},
		{"-", "# a comment\n\nschedule x\n", "schedule"},
		{"-", "schedules = 1\n", ""},
		{"-", "[topology]\n", ""},
		{"x.schedule", "nonsense", "schedule"},
		{"x.et", "\x05abcde", "chakra"},
		{"x.ET", "\x05abcde", "chakra"},
	} {
		f, ok := formatOf(c.name, []byte(c.head))
		require.Equal(t, c.want, f.Name, "%s: %s", c.name, c.head)
		require.Equal(t, c.want != "", ok)
	}
	require.False(t, IsSchedule("x.toml", []byte("schedule x\n")))
	require.True(t, IsSchedule("-", []byte("num_ranks 4\n")))
}

// exchanged is a schedule in our text form.
const exchanged = `schedule exchange
collective all_reduce float32 sum
ranks 2
count 1024
rank 0
  lane 0
    send in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recvReduceCopy from 0, in into out @0
`

// TestReadText: options replace what our text form says of the problem, and are refused where it
// has nothing of the sort.
func TestReadText(t *testing.T) {
	read := func(o foreign.Options) (*foreign.File, error) {
		return ReadSchedule("x.schedule", strings.NewReader(exchanged), o)
	}
	f, err := read(foreign.Options{Bytes: 64, Type: dtype.Float64, Op: collective.Max,
		Place: foreign.InPlace})
	require.NoError(t, err)
	require.Equal(t, collective.Spec{Kind: collective.AllReduce, Op: collective.Max,
		Type: dtype.Float64, Ranks: 2, Count: 8, InPlace: true}, f.Schedule.Spec)
	require.Equal(t, "schedule", f.Format)

	f, err = read(foreign.Options{As: collective.Reduce, Root: 1, Count: 4})
	require.NoError(t, err)
	require.Equal(t, collective.Spec{Kind: collective.Reduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 2, Root: 1, Count: 4}, f.Schedule.Spec)
	require.False(t, VerifyFile("x", f, VerifyOptions{}).Good())

	for _, c := range []struct {
		o    foreign.Options
		want string
	}{
		{foreign.Options{Protocol: "LL"}, `protocol "LL" cannot be chosen: schedule files have none`},
		{foreign.Options{StrictNop: true}, "strict-nop is for mscclpp plans; this is schedule"},
		{foreign.Options{Runtime: "rccl"}, `runtime "rccl" cannot be chosen`},
		{foreign.Options{As: collective.Broadcast}, "line 9: combines, but broadcast has no operator"},
		{foreign.Options{As: collective.Broadcast, Root: 2}, "root 2 is not one of the ranks 0…1"},
		{foreign.Options{As: collective.AllToAllV}, "all_to_allv"},
		{foreign.Options{As: collective.AllToAllV, Count: 4}, "the sizes of all_to_allv are in the file"},
	} {
		_, err := read(c.o)
		var e *scenarios.Error
		require.ErrorAs(t, err, &e, c.want)
		require.Contains(t, err.Error(), c.want)
		require.Equal(t, "x.schedule", e.File)
	}
}

// TestReadScheduleErrors: errors of the content have the file and the line, those of reading stay.
func TestReadScheduleErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := ReadSchedule("x.xml", iotest.ErrReader(broken), foreign.Options{})
	require.ErrorIs(t, err, broken)
	_, err = ReadSchedule("x.schedule", io.MultiReader(strings.NewReader(exchanged),
		iotest.ErrReader(broken)), foreign.Options{})
	require.ErrorContains(t, err, "the disk is gone")

	var e *scenarios.Error
	_, err = ReadSchedule("x.json", strings.NewReader("{}"), foreign.Options{})
	require.ErrorAs(t, err, &e)
	require.Equal(t, "of no known format", e.Text)
	for _, f := range Formats() {
		require.Contains(t, e.Hint, f.Name+" (."+f.Extensions[0])
	}
	_, err = ReadSchedule("x.xml", strings.NewReader("<algo\nname=\"x\" colour=\"blue\">"),
		foreign.Options{})
	require.ErrorAs(t, err, &e)
	require.Equal(t, "x.xml", e.File)
	require.Positive(t, e.Line)
}

// TestPlaced: steps that a text names are named as the file does.
func TestPlaced(t *testing.T) {
	f := &foreign.File{Format: "msccl", Where: func(rank, lane, step int) foreign.Place {
		switch {
		case rank > 1:
			return foreign.Place{Block: -1, Step: -1}
		case step < 0:
			return foreign.Place{Line: 3, Block: lane, Step: -1, Text: "gpu tb"}
		case lane == 7:
			return foreign.Place{Line: 9, Block: -1, Step: -1}
		case lane == 8:
			return foreign.Place{Block: -1, Step: -1, Text: "node 4"}
		}
		return foreign.Place{Line: 10 + step, Block: lane, Step: step, Text: "gpu step"}
	}}
	x := placed("my.xml", f, &schedule.Violation{Kind: schedule.Race, Rank: 1, Lane: 2, Step: 3,
		Chunk: 4, Text: "rank 1 lane 2 step 3 and rank 0 lane 0 step 5, rank 0 lane 7 step 0, " +
			"rank 1 lane 8 step 1, rank 2 lane 0 step 0, rank 0 lane 1, rank 3 lane 1"})
	require.Equal(t, "my.xml:13: race: gpu step, chunk 4: gpu step (line 13) and gpu step (line 15), "+
		"rank 0 lane 7 step 0 (line 9), node 4, rank 2 lane 0 step 0, gpu tb, rank 3 lane 1",
		x.String())
	require.Equal(t, 13, x.Line)
	require.Equal(t, PlacedStep{1, 2, 3, 13, 2, 3, "gpu step"}, x.Places[0])
	require.Len(t, x.Places, 5)

	x = placed("my.xml", f, &schedule.Violation{Kind: schedule.Missing, Rank: 2, Lane: -1, Step: -1,
		Chunk: 0, Text: "output element 0 is never written"})
	require.Equal(t, "my.xml: missing: rank 2 chunk 0: output element 0 is never written", x.String())
}

// TestFileOptions: what stands in brackets behind a file's name.
func TestFileOptions(t *testing.T) {
	o, err := fileOptions([]scenarios.Param{{Name: "protocol", Value: "LL"},
		{Name: "as", Value: "all-gather"}, {Name: "strict_nop", Value: "true"},
		{Name: "runtime", Value: "none"}})
	require.NoError(t, err)
	require.Equal(t, foreign.Options{Protocol: "LL", As: collective.AllGather, StrictNop: true,
		Runtime: "none"}, o)
	for _, c := range []struct{ name, value, want string }{
		{"as", "all_gahter", "no kind"},
		{"strict_nop", "perhaps", "true or false is expected"},
		{"runtme", "none", "did you mean runtime?"},
		{"segment", "4", "there are protocol, strict_nop, as, runtime"},
	} {
		_, err := fileOptions([]scenarios.Param{{Name: c.name, Value: c.value}})
		require.ErrorContains(t, err, c.want)
	}
}

// TestVerifyFileSlots: what a file of another format declares stands unless slots say otherwise;
// what our text form declares stands in any case.
func TestVerifyFileSlots(t *testing.T) {
	text := strings.Replace(exchanged, "count 1024\n", "count 1024\nslots 3\n", 1)
	f, err := ReadSchedule("x.schedule", strings.NewReader(text), foreign.Options{})
	require.NoError(t, err)
	theirs := *f
	theirs.Format = "msccl"
	for _, c := range []struct{ slots, ours, theirs int }{{0, 3, 3}, {-1, 3, 0}, {5, 3, 5}} {
		require.Equal(t, c.ours, VerifyFile("x", f, VerifyOptions{Slots: c.slots}).Slots)
		require.Equal(t, c.theirs, VerifyFile("x", &theirs, VerifyOptions{Slots: c.slots}).Slots)
	}
	require.Equal(t, 3, theirs.Schedule.Slots, "the file's schedule is left as it is")
}

// TestSecondCall: of a file that reaches into other ranks' buffers, a note says what a second call
// would meet; asked for two calls, it is a violation.
func TestSecondCall(t *testing.T) {
	const text = `schedule put
collective all_gather float32
ranks 2
count 4
cut out block even 2 by rank
rank 0
  lane 0
    copy in into out[0] @0
    put in to 1 at out[0] @0
    wait from put free 1 @0
rank 1
  lane 0
    copy in into out[1] @0
    put in to 0 at out[1] @0
    wait from put free 0 @0
`
	f, err := ReadSchedule("x.schedule", strings.NewReader(text), foreign.Options{})
	require.NoError(t, err)
	require.False(t, VerifyFile("x", f, VerifyOptions{}).Good(), "ours is run twice")
	f.Format = "mscclpp"
	v := VerifyFile("x.json", f, VerifyOptions{})
	require.True(t, v.Good(), v.Text())
	require.Equal(t, 1, v.Calls)
	require.NotEmpty(t, v.NextCall)
	require.Contains(t, v.Text(), "calls    one at a time; one that begins before all ranks have")
	require.False(t, VerifyFile("x.json", f, VerifyOptions{Iterations: 2}).Good())
}

// Of no elements everything is true: the verdict says that nothing was proven, and a text that does
// not say how many there are is refused.
func TestNothingIsProvenOfNothing(t *testing.T) {
	empty := strings.Replace(exchanged, "count 1024", "count 0", 1)
	f, err := ReadSchedule("x.schedule", strings.NewReader(empty), foreign.Options{})
	require.NoError(t, err)
	v := VerifyFile("x.schedule", f, VerifyOptions{})
	require.True(t, v.Good())
	require.Contains(t, v.Text(), "proof    of the data nothing, there are no elements, no deadlock")
	require.NotContains(t, v.Text(), "every input once")
	text, err := VerificationJSON(v)
	require.NoError(t, err)
	require.Contains(t, string(text), "of what becomes of the data nothing was proven")
	_, err = ReadSchedule("x.schedule", strings.NewReader(strings.Replace(exchanged, "count 1024\n",
		"", 1)), foreign.Options{})
	require.ErrorContains(t, err, `x.schedule:4: the header has no "count" line`)
}
