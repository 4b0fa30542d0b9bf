package nccl

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ours "collsim/algos/nccl"
	"collsim/hw/internal/recorded"
	"collsim/internal/tier"
)

// recorders is where the programs are that record what NCCL does on a GPU.
const recorders = "../../tools/record"

// python is a program of recorders, to be run. Where there is no Python, or it has no numpy, the
// test is skipped.
func python(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	os.Getenv("PYTHONPATH") // so that a result is not kept where it has become another
	if out, err := exec.Command("python3", "-c", "import numpy").CombinedOutput(); err != nil {
		t.Skipf("left out: python3 with numpy: %v %s", err, out)
	}
	args = append([]string{"-B", filepath.Join(recorders, program)}, args...)
	return exec.Command("python3", args...)
}

// said is what a program prints.
func said(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// planned are the calls of a group of record/bits.py.
type planned struct {
	Ranks       int
	Calls       []recorded.Call
	Bits        bool
	Environment map[string]string
}

// tables writes the schedules by which NCCL executes a plan: its own choice of each call, or the
// algorithm that the plan forces. It returns the file, and how many calls algos/nccl refuses.
func tables(t *testing.T, list string) (file string, refused int) {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(list) {
		group := planned{}
		require.NoError(t, json.Unmarshal([]byte(line), &group))
		algorithm := group.Environment["NCCL_ALGO"]
		n := network{machine: "socket", perNode: 1, name: "auto"}
		for _, a := range []ours.Algorithm{ours.Ring, ours.Tree, ours.PAT} {
			if strings.EqualFold(a.String(), algorithm) {
				n.name, n.channels = strings.ToLower(algorithm), 1
				n.among = []ours.Way{{Algorithm: a, Protocol: ours.Simple}}
				if a == ours.PAT { // which has no other
					n.among = waysOf(a)
				}
			}
		}
		for i := range group.Calls {
			group.Calls[i].Ranks = group.Ranks
			spec, err := group.Calls[i].Spec()
			require.NoError(t, err)
			_, err = ours.Choose(spec, ours.Setting{Machine: n.machine, PerNode: 1, Among: n.among})
			if err != nil {
				refused++
				continue
			}
			text.WriteString(entry(t, &n, spec))
		}
	}
	file = filepath.Join(t.TempDir(), "schedules")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	return file, refused
}

// TestRecordBits: the program that records NCCL's bits is run on the stand-in, which executes the
// schedules of algos/nccl in C; what it leaves is read, and is what is predicted: every algorithm,
// type and operator, of ranks that are threads, and of ranks that are processes.
func TestRecordBits(t *testing.T) {
	standIn(t)
	for how, ranks := range tier.Of(map[string]string{"threads": "3"},
		map[string]string{"threads": "3,4", "processes": "2"}) {
		args := []string{"--small", "--ranks", ranks}
		list := said(t, python(t, "bits.py", append(args, "unused", "--list")...))
		file, refused := tables(t, list)
		t.Setenv("COLLSIM_STANDIN_SCHEDULES", file)
		dir := t.TempDir()
		out := said(t, python(t, "bits.py", append(args, dir, "--as", how)...))
		said(t, python(t, "record.py", dir))
		folder, err := recorded.Load(dir)
		require.NoError(t, err, out)
		require.Len(t, folder.Bits, 1)
		b := folder.Bits[0]
		require.Equal(t, how, b.RanksAre)
		require.Equal(t, refused, b.Refused, out)
		require.Len(t, b.Calls, b.Planned-refused, out)
		require.Empty(t, replay(b, replayed))
		met := map[string]int{}
		for i := range b.Calls {
			c := &b.Calls[i]
			met[c.Algorithm]++
			met[c.DType]++
			met[c.Op]++
		}
		for _, what := range strings.Fields("RING TREE PAT float32 float16 bfloat16 float8_e4m3fn " +
			"float8_e5m2 int8 int32 uint64 sum prod min max avg premulsum") {
			require.NotZero(t, met[what], what)
		}
		require.NotEmpty(t, folder.Choices[0].Calls)
		require.Empty(t, replay(folder.Choices[0], chosen))
		folder.Choices[0].Calls[0].Algorithm = "PAT"
		require.Regexp(t, "PAT .*; predicted is ", replay(folder.Choices[0], chosen))
		require.Contains(t, folder.Logs[0], "coll channels")
	}
}

// TestRecordBitsFails: what NCCL refuses, and what it does not end, is recorded as that, with its
// words, beside what has been done.
func TestRecordBitsFails(t *testing.T) {
	standIn(t)
	dir := t.TempDir() // without schedules, the stand-in has rings only
	said(t, python(t, "bits.py", "--small", "--ranks", "2", dir))
	said(t, python(t, "record.py", dir))
	folder, err := recorded.Load(dir)
	require.NoError(t, err)
	b := folder.Bits[0]
	require.Positive(t, b.Refused)
	require.Len(t, b.Calls, b.Planned-b.Refused)
	require.Contains(t, b.Failed[0].Error, "NCCL_ALGO allows none that there is")
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(readme), "NCCL_ALGO allows none that there is")

	for failure, want := range map[string][3]string{
		"ncclCommInitRank=2@1": {"processes", "rank 1: ncclCommInitRank: 2: unhandled system error"},
		"die=11@1":             {"threads", "exit status -11", "ranks.py"},
	} {
		t.Setenv("COLLSIM_STANDIN_FAIL", failure)
		dir = t.TempDir()
		out, err := python(t, "bits.py", "--small", "--ranks", "2", dir, "--as", want[0]).CombinedOutput()
		require.Error(t, err, "%s", out)
		said(t, python(t, "record.py", dir))
		folder, err = recorded.Load(dir)
		require.NoError(t, err)
		require.Empty(t, folder.Bits)
		require.Contains(t, folder.Choices[0].Failed[0].Error, want[1])
		require.Contains(t, folder.Choices[0].Failed[0].Error, want[2])
		require.Contains(t, folder.Logs[0], want[1])
	}

	t.Setenv("COLLSIM_STANDIN_FAIL", "behind=1@1")
	dir = t.TempDir()
	said(t, python(t, "bits.py", "--small", "--ranks", "2", dir, "--as", "threads"))
	said(t, python(t, "record.py", dir))
	folder, err = recorded.Load(dir)
	require.NoError(t, err)
	require.Len(t, folder.Bits[0].Calls, 1) // an all_reduce
	require.Contains(t, folder.Bits[0].Failed[0].Error,
		"rank 1: ncclReduceScatter wrote behind its output")
}

// TestRecordBitsLog: a choice that NCCL's log does not have ends a group, and what stands there is
// told; the calls before it are kept.
func TestRecordBitsLog(t *testing.T) {
	python(t, "bits.py")
	out := said(t, exec.Command("python3", "-B", "-c", `
import sys
sys.path.insert(0, sys.argv[1])
import bits, plan
calls = [plan.call("all_reduce", "int8", "sum", n, 2) for n in (5, 6, 7)]
one = plan.group(2, "Ring", "Simple", "1", calls)
line = "x NCCL INFO AllReduce: %d Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..0}\n"
log = "x NCCL INFO 1 coll channels\n" + line % 5 + line % 7
found = bits.Recording()
ranks = [[{"init": 1}] + [{"output": "AA=="}] * 3] * 2
print(found.add(0, one, bits.Outcome("threads", ranks, log, "", ""), 1))
print(len(found.results), found.planned, found.failed)
`, recorders))
	require.Contains(t, out, `(1, "{'kind': 'all_reduce'`)
	require.Contains(t, out, "NCCL's log has ('AllReduce', '7', 'RING', 'SIMPLE', '0', '0') instead")
	require.Contains(t, out, "1 3 [{'what': '2 ranks, Ring Simple, 1 channels: call 1 of 3'")
}

// TestRecordRules: the program that records one rank is run on the stand-in, and the bits are what
// is predicted.
func TestRecordRules(t *testing.T) {
	standIn(t)
	dir := t.TempDir()
	out := said(t, python(t, "rules.py", "--small", "--every", tier.Of("4", "1"), dir))
	said(t, python(t, "record.py", dir))
	folder, err := recorded.Load(dir)
	require.NoError(t, err, out)
	require.Len(t, folder.Bits, 1)
	require.Empty(t, folder.Bits[0].Failed)
	require.Empty(t, replay(folder.Bits[0], replayed))
	require.Len(t, folder.Points, 1)
	require.Len(t, folder.Points[0].Points, 16)
	codes := map[string]string{}
	for _, r := range folder.Rules[0].Rules {
		for _, s := range r.Said {
			if s.Code != nil && *s.Code > 0 {
				codes[r.Rule] += codeNames()[*s.Code] + " "
			}
		}
		if r.Trouble != "" {
			codes[r.Rule] = "!"
		}
	}
	require.Empty(t, codes["no elements"])
	require.Equal(t, "ncclInvalidArgument ", codes["an operator that was not made"])
	require.Contains(t, codes["host memory"], "ncclInvalidArgument ")
	require.Len(t, folder.Rules[0].Rules, tier.Of(9+2, 33+7))
	if tier.Long {
		require.Equal(t, "ncclInvalidUsage ", codes["an end of no group"])
		// The stand-in alone refuses these; and it looks at no communicator, and crashes.
		require.Contains(t, codes["buffers that overlap"], "ncclInvalidArgument")
		require.Equal(t, "!", codes["no communicator"])
	}
}
