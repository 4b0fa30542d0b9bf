package report

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/run"
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
		{"x.json", `{"nodes": []}`, "kineto"}, // which its reader judges
		{"x.json", `[{"ph": "X"}]`, "kineto"},
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
		f, ok := formats.Sniff(c.name, []byte(c.head))
		require.Equal(t, c.want, f.Name, "%s: %s", c.name, c.head)
		require.Equal(t, c.want != "", ok)
	}
	require.False(t, formats.IsSchedule("x.toml", []byte("schedule x\n")))
	require.True(t, formats.IsSchedule("-", []byte("num_ranks 4\n")))
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
	read := func(o formats.Options) (*formats.File, error) {
		return formats.Read("x.schedule", strings.NewReader(exchanged), o)
	}
	f, err := read(formats.Options{Bytes: 64, Type: dtype.Float64, Op: collective.Max,
		Place: formats.InPlace})
	require.NoError(t, err)
	require.Equal(t, collective.Spec{Kind: collective.AllReduce, Op: collective.Max,
		Type: dtype.Float64, Ranks: 2, Count: 8, InPlace: true}, f.Schedule.Spec)
	require.Equal(t, "schedule", f.Format)

	f, err = read(formats.Options{As: collective.Reduce, Root: 1, Count: 4})
	require.NoError(t, err)
	require.Equal(t, collective.Spec{Kind: collective.Reduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 2, Root: 1, Count: 4}, f.Schedule.Spec)
	require.False(t, run.VerifyFile("x", f, run.VerifyOptions{}).Good())

	for _, c := range []struct {
		o    formats.Options
		want string
	}{
		{formats.Options{Protocol: "LL"}, `protocol "LL" cannot be chosen: schedule files have none`},
		{formats.Options{StrictNop: true}, "strict-nop is for mscclpp plans; this is schedule"},
		{formats.Options{Runtime: "rccl"}, `runtime "rccl" cannot be chosen`},
		{formats.Options{As: collective.Broadcast}, "line 9: combines, but broadcast has no operator"},
		{formats.Options{As: collective.Broadcast, Root: 2}, "root 2 is not one of the ranks 0…1"},
		{formats.Options{As: collective.AllToAllV}, "all_to_allv"},
		{formats.Options{As: collective.AllToAllV, Count: 4},
			"the sizes of all_to_allv are in the file"},
	} {
		_, err := read(c.o)
		var e *formats.Error
		require.ErrorAs(t, err, &e, c.want)
		require.Contains(t, err.Error(), c.want)
		require.Equal(t, "x.schedule", e.File)
	}
}

// TestReadScheduleErrors: errors of the content have the file and the line, those of reading stay.
func TestReadScheduleErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := formats.Read("x.xml", iotest.ErrReader(broken), formats.Options{})
	require.ErrorIs(t, err, broken)
	_, err = formats.Read("x.schedule", io.MultiReader(strings.NewReader(exchanged),
		iotest.ErrReader(broken)), formats.Options{})
	require.ErrorContains(t, err, "the disk is gone")

	var e *formats.Error
	_, err = formats.Read("x.json", strings.NewReader("{}"), formats.Options{})
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Text, "of no known format: its outermost keys have no traceEvents")
	for _, f := range formats.Table() {
		require.Contains(t, e.Hint, f.Name+" (."+f.Extensions[0])
	}
	_, err = formats.Read("x.xml", strings.NewReader("<algo\nname=\"x\" colour=\"blue\">"),
		formats.Options{})
	require.ErrorAs(t, err, &e)
	require.Equal(t, "x.xml", e.File)
	require.Positive(t, e.Line)
}

// TestVerifyFileSlots: what a file of another format declares stands unless slots say otherwise;
// what our text form declares stands in any case.
func TestVerifyFileSlots(t *testing.T) {
	text := strings.Replace(exchanged, "count 1024\n", "count 1024\nslots 3\n", 1)
	f, err := formats.Read("x.schedule", strings.NewReader(text), formats.Options{})
	require.NoError(t, err)
	theirs := *f
	theirs.Format = "msccl"
	for _, c := range []struct{ slots, ours, theirs int }{{0, 3, 3}, {-1, 3, 0}, {5, 3, 5}} {
		require.Equal(t, c.ours, run.VerifyFile("x", f, run.VerifyOptions{Slots: c.slots}).Slots)
		require.Equal(t, c.theirs,
			run.VerifyFile("x", &theirs, run.VerifyOptions{Slots: c.slots}).Slots)
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
    wait from put 1 @0
rank 1
  lane 0
    copy in into out[1] @0
    put in to 0 at out[1] @0
    wait from put 0 @0
`
	f, err := formats.Read("x.schedule", strings.NewReader(text), formats.Options{})
	require.NoError(t, err)
	require.False(t, run.VerifyFile("x", f, run.VerifyOptions{}).Good(), "ours is run twice")
	f.Format = "mscclpp"
	v := run.VerifyFile("x.json", f, run.VerifyOptions{})
	require.True(t, v.Good(), VerificationText(v))
	require.Equal(t, 1, v.Calls)
	require.NotEmpty(t, v.NextCall)
	require.Contains(t, VerificationText(v),
		"calls    one at a time; one that begins before all ranks have")
	require.False(t, run.VerifyFile("x.json", f, run.VerifyOptions{Iterations: 2}).Good())

	// Its text in our form says how to verify it as its runtime calls it; ours needs no such note.
	const note = "as the runtime calls it: --iterations 1"
	imported, err := ImportText(v)
	require.NoError(t, err)
	require.Contains(t, imported, note)
	f.Format = formats.Text
	imported, err = ImportText(run.VerifyFile("x.schedule", f, run.VerifyOptions{}))
	require.NoError(t, err)
	require.NotContains(t, imported, note)
}

// TestJudgedAsAnother: where data end elsewhere than the kind of somebody else's file wants them,
// the last line names the option that judges it as another kind; where nothing would help, not.
func TestJudgedAsAnother(t *testing.T) {
	const hint = "--as KIND"
	unsent := strings.Replace(exchanged, "recvReduceCopy from 1, in into out",
		"recv from 1 into out", 1)
	f, err := formats.Read("x.schedule", strings.NewReader(unsent), formats.Options{})
	require.NoError(t, err)
	require.NotContains(t, VerificationText(run.VerifyFile("x", f, run.VerifyOptions{})), hint)
	f.Format = "msccl"
	require.Contains(t, VerificationText(run.VerifyFile("x.xml", f, run.VerifyOptions{})), hint)

	unmatched := strings.Replace(exchanged, "    send in to 1 @0\n", "", 1)
	f, err = formats.Read("x.schedule", strings.NewReader(unmatched), formats.Options{})
	require.NoError(t, err)
	f.Format = "msccl"
	v := run.VerifyFile("x.xml", f, run.VerifyOptions{})
	require.False(t, v.Good())
	require.NotContains(t, VerificationText(v), hint, VerificationText(v))
}

// Of no elements everything is true: the verdict says that nothing was proven, and a text that does
// not say how many there are is refused.
func TestNothingIsProvenOfNothing(t *testing.T) {
	empty := strings.Replace(exchanged, "count 1024", "count 0", 1)
	f, err := formats.Read("x.schedule", strings.NewReader(empty), formats.Options{})
	require.NoError(t, err)
	v := run.VerifyFile("x.schedule", f, run.VerifyOptions{})
	require.True(t, v.Good())
	require.Contains(t, VerificationText(v),
		"proof    of the data nothing, there are no elements, no deadlock")
	require.NotContains(t, VerificationText(v), "every input once")
	text, err := VerificationJSON(v)
	require.NoError(t, err)
	require.Contains(t, string(text), "of what becomes of the data nothing was proven")
	_, err = formats.Read("x.schedule", strings.NewReader(strings.Replace(exchanged, "count 1024\n",
		"", 1)), formats.Options{})
	require.ErrorContains(t, err, `x.schedule:4: the header has no "count" line`)
}
