package recorded

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

const head = `{"command": "python3 x.py", "date": "2026-01-01", "gpu": "none", "driver": "none",
 "cuda": "none", "nccl": "none", "generator": "splitmix64", "seed": 5, "seconds": 1,
 "failed": [{"what": "w", "error": "e"}], `

// files are recordings by hand, by their names.
func files() map[string]string {
	input := sha256.Sum256(Generated(5, 1, 10, dtype.BFloat16))
	whole := strings.Replace(head, `{"what": "w", "error": "e"}`, "", 1)
	one := strings.Replace(whole, "x.py", "one.py", 1)
	return map[string]string{
		"nccl-bits-1.json": whole + fmt.Sprintf(`"planned": 3, "refused": 1, "ranks_are": "threads",
 "inputs": [{"dtype": "bfloat16", "rank": 1, "elements": 10, "sha256": "%x"}],
 "calls": [{"kind": "all_reduce", "op": "sum", "dtype": "int8", "ranks": 2, "count": 3,
  "algorithm": "RING", "protocol": "SIMPLE", "lo": 0, "hi": 0, "nchannels": 1, "machine": "socket",
  "per_node": 1, "outputs": ["AQID"]}]}`, input),
		"nccl-bits-2.json": whole + `"planned": 3, "refused": 1, "calls": [
  {"kind": "reduce", "op": "max", "dtype": "int8", "ranks": 2, "root": 1, "count": 2,
  "algorithm": "RING", "protocol": "LL", "lo": 0, "hi": 0, "nchannels": 1, "machine": "socket",
  "per_node": 1, "sha256": ["", "` + fmt.Sprintf("%x", sha256.Sum256([]byte{4, 5})) + `"]}]}`,
		"nccl-bits-one.json": one + `"calls": [{"kind": "broadcast", "dtype": "int8", "ranks": 1,
  "count": 1, "outputs": ["AQ=="]}]}`,
		"nccl-choices.json": head + `"calls": [{"kind": "broadcast", "dtype": "int8", "ranks": 2,
  "count": 1, "algorithm": "RING", "protocol": "LL", "lo": 0, "hi": 1, "nchannels": 2}]}`,
		"nccl-rules.json": head + `"rules": [{"rule": "no elements", "environment": {"A": "1"},
  "said": [["ncclAllReduce", 4, "invalid"], ["ncclX", null, "no such"]], "trouble": ""}]}`,
		"gpu-bench.json": head + `"points": [{"experiment": "copy", "of": "device", "unit": "us",
  "samples": 3, "runs": [[2, 1, 3], [3, 3, 3]], "spread": 0.5, "blocks": 4, "bytes": 10,
  "covered": [3, 3]}]}`,
		"nccl-log.txt": "a log",
	}
}

// folder writes files, and their checksums, where one does not give them itself.
func folder(t *testing.T, all map[string]string) string {
	t.Helper()
	dir, sums := t.TempDir(), ""
	for name, text := range all {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o644))
	if _, given := all["SHA256SUMS"]; !given {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o644))
	}
	return dir
}

// TestLoad: all that a folder may have is read.
func TestLoad(t *testing.T) {
	f, err := Load(folder(t, files()))
	require.NoError(t, err)
	require.Len(t, f.Bits, 3)
	c := &f.Bits[0].Calls[0]
	require.Equal(t, "all_reduce sum int8, 2 ranks of 3, by RING SIMPLE", c.String())
	require.Empty(t, c.Differs([][]byte{{1, 2, 3}, {1, 2, 3}}))
	require.Equal(t, "rank 1 element 2: 03 recorded, 04 predicted",
		c.Differs([][]byte{{1, 2, 3}, {1, 2, 4}}))
	require.Equal(t, "rank 0: 3 bytes are recorded, 2 are expected (<nil>)",
		c.Differs([][]byte{{1, 2}, {1, 2, 3}}))
	c = &f.Bits[1].Calls[0]
	require.Empty(t, c.Differs([][]byte{{}, {4, 5}}))
	require.Equal(t, "rank 0: another checksum", c.Differs([][]byte{{4, 5}, {4, 5}}))
	require.Equal(t, "rank 1: another checksum", c.Differs([][]byte{{}, {4, 6}}))
	require.Equal(t, 2, f.Choices[0].Calls[0].NChannels)
	require.Equal(t, []Failure{{What: "w", Error: "e"}}, f.Choices[0].Failed)
	said := f.Rules[0].Rules[0].Said
	require.Equal(t, "ncclAllReduce", said[0].Function)
	require.Equal(t, 4, *said[0].Code)
	require.Nil(t, said[1].Code)
	require.Equal(t, [][3]float64{{2, 1, 3}, {3, 3, 3}}, f.Points[0].Points[0].Runs)
	require.Equal(t, []string{"a log"}, f.Logs)

	none, err := Load(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	require.Nil(t, none)
}

// TestDamaged: what is not whole is refused with its file.
func TestDamaged(t *testing.T) {
	for _, c := range []struct{ file, from, to, want string }{
		{"SHA256SUMS", "", "00  nccl-bits-1.json\n",
			"gpu-bench.json: its checksum is not that of SHA256SUMS"},
		{"SHA256SUMS", "", "00", `SHA256SUMS: "00": a checksum and a name are expected`},
		{"notes.txt", "", "x", "notes.txt: no recording has such a name"},
		{"nccl-bits-1.json", `"driver": "none"`, `"driver": ""`, "it does not say its driver"},
		{"nccl-bits-1.json", "splitmix64", "rand", `generator "rand" is not known`},
		{"nccl-bits-1.json", `"seconds"`, `"colour"`, `unknown field "colour"`},
		{"nccl-bits-1.json", `"ranks": 2`, `"ranks": 0`, "call 0: "},
		{"nccl-bits-1.json", `["AQID"]`, `["AQID", "AQID", "AQID"]`, "call 0: outputs of 2 ranks"},
		{"nccl-bits-1.json", `["AQID"]`, `[]`, "call 0: outputs of 2 ranks"},
		{"nccl-bits-1.json", `"int8"`, `"float7"`, "float7"},
		{"nccl-bits-1.json", `"RING"`, `""`, "call 0: it does not say how NCCL did it"},
		{"nccl-bits-1.json", `"rank": 1`, `"rank": 2`,
			"input 0: bfloat16 of rank 2: the generator makes others"},
		{"nccl-bits-1.json", `"refused": 1`, `"refused": 0`, "nccl-bits-1.json: 2 of 3 results are"},
		{"nccl-bits-2.json", `"date": "`, `"date": "2`, "nccl-bits-1.json: 1 of 2 results are there"},
		{"nccl-bits-one.json", `{"kind": "broadcast", "dtype": "int8", "ranks": 1,
  "count": 1, "outputs": ["AQ=="]}`, ``, "it has no calls, and nothing is said to have failed"},
		{"nccl-choices.json", `"hi": 1`, `"hi": 1, "outputs": ["AQ=="]`, "call 0: outputs of 2 ranks"},
		{"nccl-choices.json", `"what": "w"`, `"what": ""`, "does not say what or how"},
		{"nccl-rules.json", `"rule": "no elements"`, `"rule": ""`, "rule 0: what was asked"},
		{"nccl-rules.json", `"invalid"`, `""`, `rule 0: "ncclAllReduce": a code without a word`},
		{"nccl-rules.json", files()["nccl-rules.json"], head + `"rules": []}`, "it has no rules"},
		{"gpu-bench.json", `, [3, 3, 3]`, ``, "point 0: what it is of and two runs in us"},
		{"gpu-bench.json", `[2, 1, 3]`, `[2, 2.5, 3]`, "the median does not lie between"},
		{"gpu-bench.json", `0.5`, `0.4`, "a spread of 0.4 is not that of [[2 1 3] [3 3 3]]"},
		{"gpu-bench.json", `"blocks"`, `"bloks"`, `unknown field "bloks"`},
	} {
		all := files()
		changed := strings.Replace(all[c.file], c.from, c.to, 1)
		require.NotEqual(t, all[c.file], changed, c.want)
		all[c.file] = changed
		_, err := Load(folder(t, all))
		require.ErrorContains(t, err, c.want, c.to)
	}
	dir := folder(t, files())
	require.NoError(t, os.Remove(filepath.Join(dir, "nccl-log.txt")))
	_, err := Load(dir)
	require.ErrorContains(t, err, "nccl-log.txt is in SHA256SUMS and not there")
	require.NoError(t, os.Remove(filepath.Join(dir, "SHA256SUMS")))
	_, err = Load(dir)
	require.ErrorContains(t, err, "SHA256SUMS")
}
