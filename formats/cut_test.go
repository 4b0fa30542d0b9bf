package formats_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats"
)

// TestCutJSON: of JSON that ends in the middle, the line in which it ends is told, whatever the
// format and wherever it was cut.
func TestCutJSON(t *testing.T) {
	texts := map[string]string{
		"kineto": `{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{"ph": "X", "cat": ` +
			`"kernel", "name": "k", "ts": 1, "dur": 2, "args": {"stream": 7, "correlation": 1}}, ` +
			`{"ph": "X", "cat": "none"}], "other": {"a": [1, 2]}}`,
		formats.Trace: `{"workload_name": "w", "workload_graph": [{"Id": 1, "NodeType": 4, ` +
			`"runtime": 2}, {"Id": 2, "NodeType": 4, "runtime": 2}], "ngpus": 1}`,
	}
	for name, file := range map[string]string{"sccl": "sccl/testdata/allgather_ring3.json",
		"mscclpp": "mscclpp/testdata/plans/nop.txt",
		"teccl":   "teccl/testdata/gather_line.json"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		plan, _, _ := strings.Cut(string(text), "\n----") // of a script the first
		texts[name] = plan[strings.Index(plan, "{"):]
	}
	for name, text := range texts {
		var b bytes.Buffer
		require.NoError(t, json.Indent(&b, []byte(text), "", " "))
		text = b.String()
		step := max(len(text)/200, 1)
		for cut := len(text) / 2; cut < len(text)-1; cut += step {
			if text[cut-1] == '\n' {
				continue
			}
			_, err := formats.Read("t.0.json", strings.NewReader(text[:cut]), formats.Options{})
			var e *formats.Error
			require.True(t, errors.As(err, &e), "%s cut at %d: %v", name, cut, err)
			require.Equal(t, 1+strings.Count(text[:cut], "\n"), e.Line, "%s cut at %d: %v", name, cut, err)
			require.Contains(t, err.Error(), "the file ends in the middle", name)
		}
	}
}
