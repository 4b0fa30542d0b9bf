package formats_test

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
)

// zipped is a text as gzip writes it.
func zipped(t *testing.T, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestGzip: a gzipped file of any format is read as what is in it, told by how that begins or by
// the extension before .gz; one that ends early is not read.
func TestGzip(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Type: dtype.Float32,
		Op: collective.Sum, Ranks: 16, Count: 1000}, algos.Options{})
	require.NoError(t, err)
	kineto := `{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{"ph": "X", "cat": ` +
		`"kernel", "name": "k", "ts": 1, "dur": 2, "args": {"stream": 7, "correlation": 1}}]}`
	chakra := `{"workload_name": "w", "workload_graph": [{"Id": 1, "NodeType": 4, "runtime": 2}]}`
	for _, c := range []struct{ name, text, format string }{
		{"a.schedule.gz", s.String(), formats.Text}, {"download", s.String(), formats.Text},
		{"t.0.json.gz", kineto, "kineto"}, {"t.0.json", kineto, "kineto"},
		{"t.0.et.gz", chakra, formats.Trace},
		{"t.et.gz", `{"workload_name": "the key is far behind", ` + chakra[1:], formats.Trace},
	} {
		text := zipped(t, c.text)
		require.True(t, formats.IsSchedule(c.name, text[:min(len(text), formats.HeadSize)]), c.name)
		f, err := formats.Read(c.name, bytes.NewReader(text), formats.Options{})
		require.NoError(t, err, c.name)
		require.Equal(t, c.format, f.Format, c.name)
		if c.format == formats.Text {
			require.Equal(t, s.String(), f.Schedule.String())
		}
		_, err = formats.Read(c.name, bytes.NewReader(text[:len(text)-9]), formats.Options{})
		require.Error(t, err, c.name)
	}
	// A trace of a file a rank is of the format that its files are of.
	for _, c := range []struct{ text, format string }{{kineto, "kineto"}, {chakra, formats.Trace}} {
		for _, text := range [][]byte{[]byte(c.text), zipped(t, c.text)} {
			var parts []formats.Part
			for _, name := range []string{"t.0.json.gz", "t.1.json.gz"} {
				parts = append(parts, formats.Part{Name: name, Reader: bytes.NewReader(text)})
			}
			f, err := formats.ReadTrace("t", parts, formats.Options{})
			require.NoError(t, err)
			require.Equal(t, c.format, f.Format)
			require.Equal(t, "t", f.Name)
			parts[0].Reader, parts[1].Reader = bytes.NewReader(text), bytes.NewReader(text)
			_, err = formats.ReadTrace("t", parts, formats.Options{Runtime: "rccl"})
			require.EqualError(t, err, "t: runtime \"rccl\" cannot be chosen: "+c.format+
				" files are for none")
		}
	}
	f, known := formats.Sniff("x.gz", []byte{0x1f, 0x8b})
	require.False(t, known, f.Name)
}
