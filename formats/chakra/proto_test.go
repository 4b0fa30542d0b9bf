package chakra_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/chakra"
	"collsim/formats/internal/foreign"
	"collsim/proof"
)

// message is a protobuf message in the making.
type message []byte

func (m message) number(field int, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

func (m message) bytes(field int, v []byte) message {
	m = binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(v)))
	return append(m, v...)
}

func (m message) attr(name string, field int, v uint64) message {
	return m.bytes(10, message{}.bytes(1, []byte(name)).number(field, v))
}

// file is messages with their lengths before them, the metadata first.
func file(messages ...message) []byte {
	all := append([]message{message{}.bytes(1, []byte("0.0.4"))}, messages...)
	var b []byte
	for _, m := range all {
		b = append(binary.AppendUvarint(b, uint64(len(m))), m...)
	}
	return b
}

func node(id, kind uint64) message { return message{}.number(1, id).number(3, kind) }

func read(files ...[]byte) (*foreign.File, error) {
	var inputs []chakra.Input
	for i, b := range files {
		name := "t." + string(rune('0'+i)) + ".et"
		inputs = append(inputs, chakra.Input{Name: name, Reader: bytes.NewReader(b)})
	}
	return chakra.Read(inputs, foreign.Options{File: "t", As: collective.Broadcast})
}

// workload reads files as a program.
func workload(files ...[]byte) (*chakra.Workload, error) {
	var inputs []chakra.Input
	for i, b := range files {
		name := "t." + string(rune('0'+i)) + ".et"
		inputs = append(inputs, chakra.Input{Name: name, Reader: bytes.NewReader(b)})
	}
	return chakra.ReadWorkload("t", inputs, &chakra.Reading{})
}

// sound holds a workload to what is promised: names of their own, ranks that exist, and ops that
// come after those that they wait for.
func sound(t *testing.T, w *chakra.Workload) {
	names := map[string]bool{}
	for i, o := range w.Ops {
		require.False(t, names[o.Name])
		names[o.Name] = true
		seen := map[int]bool{}
		for _, team := range o.Teams {
			require.Len(t, team, len(o.Teams[0]))
			for _, rank := range team {
				require.False(t, seen[rank])
				seen[rank] = true
				require.Less(t, rank, w.Ranks)
			}
		}
		require.NotEmpty(t, seen)
		for _, before := range o.After {
			require.Less(t, before, i)
		}
	}
}

// TestProto: attributes are read in whatever type of number they have, dependencies packed or not,
// files gzipped or not.
func TestProto(t *testing.T) {
	a := file(node(0, 4).number(7, 2),
		node(1, 4),
		node(2, 5).number(5, 0).bytes(5, []byte{1}).attr("comm_size", 9, 64).
			attr("comm_dst", 15, 2).attr("comm_tag", 11, 5).
			attr("note", 27, 1).bytes(10, message{}.bytes(1, []byte("pg_name")).bytes(29, []byte("g"))))
	b := file(node(0, 6).bytes(10, append(message{}.bytes(1, []byte("comm_size")),
		21<<3&0x7f|1|0x80, 1, 64, 0, 0, 0, 0, 0, 0, 0)).
		attr("comm_src", 7, 0).attr("comm_tag", 13, 5).number(4, 1000))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for _, second := range [][]byte{b, zipped.Bytes()} {
		f, err := read(a, second)
		require.NoError(t, err)
		require.Empty(t, judge(f))
		require.Contains(t, f.Schedule.String(), "compute 2000000ps")
		require.Contains(t, f.Notes, "1 ctrl_deps name nodes that are not in the file; they say who "+
			"called a node, and order nothing")
		proof, _ := proof.Verify(f.Schedule, proof.Options{})
		require.EqualValues(t, 64, proof.BytesSent)
	}
}

// TestProtoErrors: what is wrong is named, with the message or the node.
func TestProtoErrors(t *testing.T) {
	named := func(name string) message { return message{}.bytes(1, []byte(name)) }
	send := node(5, 5).attr("comm_size", 9, 1)
	for _, c := range []struct {
		want string
		file []byte
	}{
		{"t.0.et: the file is empty", nil},
		{"message 0: the file ends in a message's length", []byte{0x80}},
		{"message 0: a message of 100 bytes, but the file ends after 1", []byte{100, 0}},
		{"a message of 268435455 bytes; at most 67108864", []byte{0xff, 0xff, 0xff, 0x7f}},
		{"message 1: the file ends in a message's length", append(file(), 0x80)},
		{"message 0: no GlobalMetadata of a Chakra trace: field 3", []byte{2, 3 << 3, 0}},
		{"message 1: node 5: field 12 of wire type 0 is none", file(node(5, 4).number(12, 0))},
		{"field 1 of wire type 2 is none of the schema", file(message{}.bytes(1, nil))},
		{"a number that has no end", file(append(node(5, 4), 7<<3, 0x80))},
		{"a field that is longer than its message", file(append(node(5, 4), 2<<3|2, 9))},
		{"node 5: type 0 is none; 1 (METADATA_NODE) to 10", file(node(5, 0))},
		{"node 5: COMM_SEND_NODE has no comm_size", file(node(5, 5))},
		{"node 5: comm_size is given twice", file(send.attr("comm_size", 9, 1))},
		{"node 5: comm_size is not a whole", file(node(5, 5).attr("comm_size", 27, 1))},
		{"node 5: is_cpu_op is not a bool", file(node(5, 4).bytes(10, named("is_cpu_op")))},
		{"node 5: pg_name is not a string", file(node(5, 4).attr("pg_name", 9, 1))},
		{"comm_dst = -3; 0 to 2147483647 are possible", file(send.attr("comm_dst", 17, 5))},
		{"gzip: unexpected EOF", []byte{0x1f, 0x8b}},
		{"node 5 (" + strings.Repeat("n", 60) + "…): type 11 is none",
			file(node(5, 11).bytes(2, bytes.Repeat([]byte("n"), 99)))},
	} {
		_, err := read(c.file)
		var e *foreign.Error
		require.ErrorAs(t, err, &e, c.want)
		require.Contains(t, err.Error(), c.want)
	}
	_, err := read()
	require.EqualError(t, err, "t: 0 ranks; 1 to 65536 are possible")
}

func TestSort(t *testing.T) {
	sorted, err := chakra.Sort([]string{"d/a.10.et", "d/a.2.et", "d/a.0.et", "d/a.1.et", "d/a.3.et",
		"d/a.4.et", "d/a.5.et", "d/a.6.et", "d/a.7.et", "d/a.8.et", "d/a.9.et"})
	require.NoError(t, err)
	require.Equal(t, []string{"d/a.0.et", "d/a.1.et", "d/a.2.et"}, sorted[:3])
	require.Equal(t, "d/a.10.et", sorted[10])
	for want, names := range map[string][]string{
		"a name such as trace.0.et is expected":   {"a.et"},
		"a.00.et: a name such as":                 {"a.00.et"},
		"b.1.et does not belong to a":             {"a.0.et", "b.1.et"},
		"a.2.et is one of 2 files; the ranks 0…1": {"a.0.et", "a.2.et"},
		"a.0.et and a.0.json are of the same":     {"a.0.et", "a.0.json"},
	} {
		_, err := chakra.Sort(names)
		require.ErrorContains(t, err, want)
	}
}

// TestOrderByTime: of calls that nothing orders the first to begin is first, whatever their ids.
func TestOrderByTime(t *testing.T) {
	call := func(id, start, bytes uint64) message {
		return node(id, 7).number(6, start).attr("comm_type", 9, 0).attr("comm_size", 9, bytes)
	}
	late := file(node(1, 4).number(7, 2), node(2, 4).number(7, 3),
		call(3, 20, 64).number(5, 1), call(4, 10, 32).number(5, 2))
	for order, first := range map[string]int{"id": 64, "time": 32} {
		var inputs []chakra.Input
		for range 2 {
			inputs = append(inputs, chakra.Input{Name: "t.0.et", Reader: bytes.NewReader(late)})
		}
		w, err := chakra.ReadWorkload("t", inputs, &chakra.Reading{Order: order})
		require.NoError(t, err)
		calls := slices.DeleteFunc(w.Ops, func(o chakra.Work) bool { return o.Kind == 0 })
		require.Len(t, calls, 2)
		require.EqualValues(t, first, calls[0].Bytes, order)
	}
}

// FuzzRead: whatever is read is refused with an error of the right type, or is a schedule that can
// be judged, for one rank and for two.
func FuzzRead(f *testing.F) {
	f.Add(file(node(0, 4).number(7, 2), node(2, 5).number(5, 0).attr("comm_size", 9, 64).
		attr("comm_dst", 7, 1), node(3, 6).attr("comm_size", 9, 64).attr("comm_src", 7, 1)))
	f.Add(file(node(0, 7).attr("comm_type", 9, 0).attr("comm_size", 9, 64),
		node(1, 7).attr("comm_type", 9, 9).bytes(5, []byte{0})))
	f.Add([]byte(`{"workload_graph": [{"Id": 1, "NodeType": 7, "comm_type": 0, "comm_size": 8}]}`))
	f.Add([]byte(`{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", ` +
		`"ts": 1.5, "dur": 2, "args": {"stream": 7, "correlation": 1}}, {"ph": "X", "cat": ` +
		`"cuda_sync", "args": {"cuda_sync_kind": "Context Sync", "correlation": 2}}, ` +
		`{"ph": "X", "cat": "kernel", ` +
		`"name": "n", "ts": 4, "dur": 2, "args": {"stream": 8, "correlation": 3, "Collective name": ` +
		`"barrier", "In msg nelems": 1, "Out msg nelems": 1, "Group size": 1, "dtype": "Int", ` +
		`"Process Group Name": "0", "Process Group Ranks": "[0]"}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, files := range [][][]byte{{b}, {b, b}} {
			if w, err := workload(files...); err == nil {
				sound(t, w)
			} else {
				var e *foreign.Error
				require.ErrorAs(t, err, &e)
			}
			file, err := read(files...)
			if err != nil {
				var e *foreign.Error
				require.ErrorAs(t, err, &e)
				continue
			}
			if len(b) < 10_000 {
				judge(file)
			}
		}
	})
}
