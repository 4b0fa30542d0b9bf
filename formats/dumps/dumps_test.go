package dumps

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/collective/calls"
)

// sources makes sources of files.
func sources(files ...file) (list []Source) {
	for _, f := range files {
		list = append(list, Source{f.name, f.rank, func() ([]byte, error) { return f.text, nil }})
	}
	return list
}

// read reads files that are to be right.
func read(t *testing.T, files ...file) *Dump {
	t.Helper()
	d, err := Read(sources(files...))
	require.NoError(t, err)
	return d
}

// sample reads a file of testdata.
func sample(t *testing.T, name string) *Dump {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return read(t, file{name, -1, text})
}

// TestRAS: ranks that do not answer and ranks that are behind, in both forms.
func TestRAS(t *testing.T) {
	d := sample(t, "ras.txt")
	found := d.Judge().Findings
	require.Len(t, found, 2)
	require.Equal(t, calls.Silent, found[0].Fault)
	require.Equal(t, []int{1}, found[0].Ranks)
	require.Equal(t, "00000000c0ffee02", d.Groups[found[0].Group].Name)
	require.Equal(t, calls.Missing, found[1].Fault)
	require.Equal(t, []int{2, 6}, found[1].Ranks)
	require.Equal(t, int64(640), found[1].Meeting.Seq)
	require.Equal(t, collective.AllReduce, found[1].Call.Kind)
	d = sample(t, "ras.json")
	found = d.Judge().Findings
	require.Len(t, found, 2)
	require.Equal(t, []int{3}, found[0].Ranks)
	require.Equal(t, []int{1}, found[1].Ranks)
	require.Equal(t, int64(12), found[1].Meeting.Seq)
}

// TestRASOutliers: where few are ahead, RAS names them, and all others are behind.
func TestRASOutliers(t *testing.T) {
	text, err := os.ReadFile("testdata/ras.txt")
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte("\n"), []byte("\n[1,3]<stdout>:"))
	text = bytes.ReplaceAll(text, []byte("6 ranks have launched up to operation 640"),
		[]byte("6 ranks have not launched any operations"))
	found := read(t, file{"x", -1, text}).Judge().Findings
	require.Equal(t, []int{0, 1, 3, 4, 5, 7}, found[1].Ranks)
	require.Equal(t, []int{2, 6}, found[1].Waiting)
	require.Equal(t, int64(639), found[1].Meeting.Seq)
}

// TestCollLog: ranks are those of the communicator that its lines of initialisation name.
func TestCollLog(t *testing.T) {
	found := sample(t, "coll.log").Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, []int{2}, found[0].Ranks)
	require.Equal(t, calls.KindField, found[0].Difference.Field)
	require.Equal(t, "bfloat16", found[0].Call.Type)
}

// TestCollLogs: without such lines, files say the ranks, and messages in a row are made together.
func TestCollLogs(t *testing.T) {
	line := func(rank int, what string, peer int) string {
		return fmt.Sprintf("h:%d:1 [0] NCCL INFO %s: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 "+
			"datatype 7 op 0 root %d comm 0x%d [nranks=2] stream 0x1\n", 7+rank, what, peer, 1+rank)
	}
	files := func(last string) []file {
		return []file{{"a.0", 0, []byte(line(0, "Send", 1) + line(0, "Recv", 1) + last)},
			{"a.1", 1, []byte(line(1, "Send", 0) + line(1, "Recv", 0))}}
	}
	require.Empty(t, read(t, files("")...).Judge().Findings)
	found := read(t, files(line(0, "AllReduce", 0))...).Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, []int{1}, found[0].Ranks)
}

// TestOlderLog: older versions have no id of a communicator, and their lines say the rank all the
// same.
func TestOlderLog(t *testing.T) {
	text, err := os.ReadFile("testdata/coll.log")
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte(" commId 0x77aa"), nil)
	found := read(t, file{"x", -1, text}).Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, []int{2}, found[0].Ranks)
	require.Len(t, found[0].Meeting.Ranks, 4)
}

// TestWatchdog: a rank that has not enqueued the call is missing, and one that is not heard of,
// too.
func TestWatchdog(t *testing.T) {
	d := sample(t, "watchdog.log")
	found := d.Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, []int{1, 3}, found[0].Ranks)
	require.Equal(t, []int{0, 2}, found[0].Waiting)
	require.Equal(t, int64(42), found[0].Meeting.Seq)
	require.Equal(t, "default_pg", d.Groups[found[0].Group].About)
	older := "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(OpType=BROADCAST, " +
		"TensorShape=[4], Timeout(ms)=1800000) ran for 1808173 milliseconds before timing out.\n"
	require.Equal(t, []int{0}, read(t, file{"x", -1, []byte(older)}).Judge().Findings[0].Ranks)
}

// recorded writes a dump of the flight recorder: entries of group "0", ranks 0 and 1.
func recorded(entries string) []byte {
	return fmt.Appendf(nil, `{"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "dp", `+
		`"ranks": "[0, 1]"}}, "entries": [%s]}`, entries)
}

// entry writes an entry with a state.
func entry(seq int, name, state string, size int) string {
	return fmt.Sprintf(`{"process_group": ["0", "dp"], "collective_seq_id": %d, "p2p_seq_id": %d, `+
		`"profiling_name": "nccl:%s", "input_sizes": [[%d, 2]], "input_dtypes": ["Half"], `+
		`"output_sizes": [[%[4]d, 2]], "output_dtypes": ["Half"], "state": %q, "frames": [`+
		`{"name": "x", "filename": "/a/torch/distributed/c.py", "line": 1}, `+
		`{"name": "step", "filename": "/job/train.py", "line": 7}]}`, seq, seq, name, size, state)
}

// TestRecorder: types, sizes, states and frames of a dump; a rank without a dump is missing.
func TestRecorder(t *testing.T) {
	one := file{"d.0", 0, recorded(entry(1, "all_reduce", "completed", 3) + "," +
		entry(2, "_all_gather_base", "started", 4))}
	d := read(t, one)
	c := d.Ranks[0].Calls[1]
	require.Equal(t, calls.Call{Seq: 2, Name: "all_gather", Kind: collective.AllGather,
		Type: "float16", In: 8, Out: 8, Root: -1, State: calls.Started, Frame: "step (train.py:7)"}, c)
	require.Equal(t, calls.Group{Name: "0", About: "dp", Ranks: []int{0, 1}}, d.Groups[0])
	found := d.Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, []int{1}, found[0].Ranks)
	two := file{"d.1", 1, recorded(entry(1, "all_reduce", "completed", 3) + "," +
		entry(2, "_all_gather_base", "started", 5))}
	found = read(t, one, two).Judge().Findings
	require.Equal(t, calls.CountField, found[0].Difference.Field)
	require.Equal(t, []int{0, 1}, found[0].Ranks)
}

// TestBatches: sends and receives of a batch are made together, and have its state.
func TestBatches(t *testing.T) {
	batch := func(mine, other int, state string) file {
		return file{fmt.Sprint("d.", mine), mine, recorded(entry(0, fmt.Sprintf("send %d->%d", mine,
			other), "scheduled", 1) + "," + entry(0, fmt.Sprintf("recv %d<-%d", mine, other),
			"scheduled", 1) + "," + entry(0, "coalesced", state, 1))}
	}
	d := read(t, batch(0, 1, "completed"), batch(1, 0, "completed"))
	require.Len(t, d.Ranks[0].Calls, 2)
	require.Equal(t, calls.Completed, d.Ranks[0].Calls[0].State)
	require.Equal(t, d.Ranks[0].Calls[0].Batch, d.Ranks[0].Calls[1].Batch)
	require.Empty(t, d.Judge().Findings)
	found := read(t, batch(0, 1, "started"), batch(1, 0, "started")).Judge().Findings
	require.Equal(t, calls.Stuck, found[0].Fault)
}

// TestRenumbered: a version counts a batch of messages as a collective, on the ranks that make it.
func TestRenumbered(t *testing.T) {
	batch := func(name string) string {
		return entry(2, name, "scheduled", 1) + "," + entry(2, "coalesced", "completed", 1) + ","
	}
	first := entry(1, "all_reduce", "completed", 3) + ","
	one := file{"d.0", 0, recorded(first + batch("send 0->1") + entry(3, "all_reduce", "started", 3))}
	two := file{"d.1", 1, recorded(first + batch("recv 1<-0") + entry(3, "all_reduce", "started", 3))}
	none := file{"d.1", 1, recorded(first + entry(2, "all_reduce", "started", 3))}
	require.Equal(t, calls.Stuck, read(t, one, two).Judge().Findings[0].Fault)
	d := read(t, one, none)
	require.Equal(t, int64(2), d.Ranks[0].Calls[2].Seq)
	require.Equal(t, calls.Stuck, d.Judge().Findings[0].Fault)
	require.Len(t, d.Notes, 1)
}

// TestRing: of calls made together, those of the oldest number may be lost.
func TestRing(t *testing.T) {
	text := strings.Replace(string(recorded(entry(1, "all_reduce", "completed", 3)+","+
		entry(2, "all_reduce", "started", 3))), `{"process_group"`, `{"record_id": 7, "process_group"`, 1)
	d := read(t, file{"d.0", 0, []byte(text)})
	require.Len(t, d.Ranks[0].Calls, 1)
	require.Equal(t, int64(2), d.Ranks[0].Calls[0].Seq)
}

// TestErrors: what cannot be read has file and line or, in a pickle, the opcode and its place.
func TestErrors(t *testing.T) {
	for _, one := range []struct{ text, want string }{
		{"hello", "d.0: no calls of ranks are in it"},
		{"{\"entries\": [\n{]}", "d.0:2: invalid character"},
		{`{"entries": [{"profiling_name": "nccl:x", "state": "lost"}]}`,
			`d.0: entries[0].state = "lost": scheduled, started or completed is expected`},
		{`{"entries": [{"profiling_name": "nccl:x", "input_sizes": [[-1]]}]}`,
			"d.0: entries[0].input_sizes[0] = a list of 1: sizes of a tensor are expected"},
		{`{"entries": [{"profiling_name": "nccl:x", "collective_seq_id": "a"}]}`,
			`d.0: entries[0].collective_seq_id = "a": a whole number is expected`},
		{`{"entries": []}`, "d.0: no call of a rank is in it"},
		{"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR.", "d.0: byte 2: opcode GLOBAL (0x63)"},
		{"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x8c\x06system\x93.",
			"d.0: byte 23: opcode STACK_GLOBAL (0x93)"},
		{"\x80\x02}R.", "d.0: byte 3: opcode REDUCE (0x52)"},
		{"\x80\x02}X\xff\xff\xff\xffab", "d.0: byte 3: the pickle ends in the middle of a value"},
		{"\x80\x02]q\x00h\x00a.", "d.0: [0] = a list of 1: an object is expected"},
	} {
		_, err := Read(sources(file{"d.0", 0, []byte(one.text)}))
		require.ErrorContains(t, err, one.want)
	}
}

// pickled writes values as PyTorch does: protocol 2, every text in the memo.
func pickled(v any, out *bytes.Buffer, memo map[string]byte) {
	switch v := v.(type) {
	case nil:
		out.WriteByte('N')
	case bool:
		out.WriteByte(map[bool]byte{true: 0x88, false: 0x89}[v])
	case int:
		if v >= 0 && v < 256 {
			out.Write([]byte{'K', byte(v)})
			return
		}
		out.Write([]byte{0x8a, 8})
		_ = binary.Write(out, binary.LittleEndian, int64(v))
	case string:
		if at, known := memo[v]; known {
			out.Write([]byte{'h', at})
			return
		}
		memo[v] = byte(len(memo))
		out.WriteByte('X')
		_ = binary.Write(out, binary.LittleEndian, uint32(len(v)))
		out.WriteString(v)
		out.Write([]byte{'q', memo[v]})
	case []any:
		out.WriteString("](")
		for _, item := range v {
			pickled(item, out, memo)
		}
		out.WriteByte('e')
	case map[string]any:
		out.WriteString("}(")
		for _, key := range sortedKeys(v) {
			pickled(key, out, memo)
			pickled(v[key], out, memo)
		}
		out.WriteByte('u')
	}
}

// TestPickle: a pickle and JSON with the same contents are the same dump.
func TestPickle(t *testing.T) {
	plain := map[string]any{"version": "2.10", "pg_config": map[string]any{"0": map[string]any{
		"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, "entries": []any{map[string]any{
		"process_group": []any{"0", "default_pg"}, "collective_seq_id": 7, "is_p2p": false,
		"profiling_name": "nccl:all_reduce", "input_sizes": []any{[]any{300, 2}},
		"input_dtypes": []any{"BFloat16"}, "state": "started", "time_created_ns": 1 << 60,
		"time_discovered_started_ns": nil}}}
	var out bytes.Buffer
	out.Write([]byte{opProto, 2})
	pickled(plain, &out, map[string]byte{})
	out.WriteByte('.')
	d := read(t, file{"nccl_trace_rank_0", 0, out.Bytes()})
	require.Equal(t, calls.Call{Seq: 7, Name: "all_reduce", Kind: collective.AllReduce,
		Type: "bfloat16", In: 600, Out: -1, Root: -1, State: calls.Started, Time: 1 << 60},
		d.Ranks[0].Calls[0])
	// Python's own, of protocol 5: {'a': [1, -2, 1.5, None, ('x',)], 'b': 2**40}.
	python := "\x80\x05\x95\x32\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94](K\x01J" +
		"\xfe\xff\xff\xffG?\xf8\x00\x00\x00\x00\x00\x00N\x8c\x01x\x94\x85\x94e\x8c\x01b" +
		"\x94\x8a\x06\x00\x00\x00\x00\x00\x01u."
	v, err := parsePickle(file{text: []byte(python)})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": &list{[]any{int64(1), int64(-2), 1.5, nil,
		&list{[]any{"x"}}}}, "b": int64(1) << 40}, v.is)
}

// FuzzRead: no text makes the reader or the judge fail otherwise than by an error.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"ras.txt", "ras.json", "coll.log", "watchdog.log"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add(recorded(entry(1, "all_reduce", "completed", 3)))
	f.Add([]byte("\x80\x02}q\x00(X\x07\x00\x00\x00entriesq\x01]q\x02}q\x03aus."))
	f.Fuzz(func(t *testing.T, text []byte) {
		if d, err := Read(sources(file{"x.0", 0, text})); err == nil {
			d.Judge()
		}
	})
}
