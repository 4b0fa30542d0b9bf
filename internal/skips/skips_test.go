package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRead follows a run of go test: of what passed a line a package is printed, of what failed all
// that it said, and what was left out is known with its reason.
func TestRead(t *testing.T) {
	output := func(of, text string) string {
		return fmt.Sprintf(`{"Action":"output",%s,"Output":%q}`+"\n", of, text)
	}
	good := `"Package":"collsim/a","Test":"TestGood"`
	left := `"Package":"collsim/a","Test":"TestLeft/one"`
	text := `{"Action":"run",` + good + "}\n" + output(good, "chatter\n") +
		`{"Action":"pass",` + good + "}\n" + output(left, "=== RUN   TestLeft/one\n") +
		output(left, "    a_test.go:7: no tool: none here\n") +
		output(left, "--- SKIP: TestLeft/one (0.00s)\n") + `{"Action":"skip",` + left + "}\n" +
		output(`"Package":"collsim/a"`, "PASS\n") + output(`"Package":"collsim/a"`, "ok  \tcollsim/a\n") +
		output(`"Package":"collsim/none"`, "?   \tcollsim/none\t[no test files]\n") +
		`{"Action":"skip","Package":"collsim/none"}` + "\n"
	bad, open := `"Package":"collsim/b","Test":"TestBad"`, `"Package":"collsim/b","Test":"TestOpen"`
	broken := output(bad, "    b_test.go:3: two is not three\n") + `{"Action":"fail",` + bad + "}\n" +
		output(open, "panic: help\n") + output(`"Package":"collsim/b"`, "FAIL\tcollsim/b\n") +
		`{"Action":"fail","Package":"collsim/b"}` + "\n" +
		`{"ImportPath":"collsim/c","Action":"build-output","Output":"c.go:1: syntax error\n"}` +
		"\ngo: said by go itself\n"
	var out strings.Builder
	r, err := read(strings.NewReader(text), &out)
	require.NoError(t, err)
	require.Equal(t, results{skips: []skip{{"a.TestLeft/one", "no tool: none here"}}}, r)
	require.Equal(t, "ok  \tcollsim/a\n", out.String())
	out.Reset()
	r, err = read(strings.NewReader(broken), &out)
	require.NoError(t, err)
	require.True(t, r.failed)
	require.Equal(t, "    b_test.go:3: two is not three\nFAIL\tcollsim/b\npanic: help\n"+
		"c.go:1: syntax error\ngo: said by go itself\n", out.String())
	require.False(t, r.judge(&out, nil, nil), "a test has failed")
}

// TestJudge: a test may be left out for a reason of the table, where what it needs is missing.
func TestJudge(t *testing.T) {
	const none = "no row of internal/skips/table.go is of this test and this reason"
	list := []row{{`hw/mpi\.`, `^no mpirun`, mpi}, {`hw/mpi\.TestRank$`, `^no rank$`, nothing}}
	for _, test := range []struct {
		skip skip
		has  need
		want string
	}{
		{skip{"hw/mpi.TestBits", "no mpirun: not found"}, "", ""},
		{skip{"hw/mpi.TestBits/ring", "no mpirun: not found"}, mpi,
			"this machine has Open MPI (mpirun) "},
		{skip{"hw/mpi.TestRank", "no rank"}, mpi, ""},
		{skip{"hw/mpi.TestBits", "no rank"}, "", none},
		{skip{"run.TestBits", "no mpirun"}, "", none},
		{skip{"hw/mpi.TestBits", ""}, "", "it gives no reason"},
	} {
		var out strings.Builder
		r := results{skips: []skip{test.skip}}
		good := r.judge(&out, list, func(n need) bool { return n != test.has })
		require.Equal(t, test.want == "", good)
		require.Contains(t, out.String(), "left out: "+test.skip.test+": "+test.skip.reason)
		if test.want != "" {
			require.Contains(t, out.String(), "NOT EXPECTED: "+test.want)
		}
	}
}

// TestTable: what a bare machine leaves out is expected there, and nothing of it on one that has
// all that the tests need, but what no machine has.
func TestTable(t *testing.T) {
	for _, s := range []skip{
		{"formats/arrays.TestPython", "left out: python3 cannot import numpy, ml_dtypes and " +
			"safetensors:  ModuleNotFoundError: No module named 'numpy'"},
		{"cmd/collsim.TestKilledRank/mpi", `mpirun: exec: "mpirun": executable file not found in ` +
			`$PATH; install Open MPI 4 or 5 (Debian: apt install openmpi-bin)`},
		{"hw/lab.TestExchange", "no network lab: not root; namespaces need root: run it with sudo"},
		{"hw/lab.TestExchange", `no network lab: the root directory is no mount point: "mount ` +
			`--make-rslave /" failed: Invalid argument; ip changes what is mounted in a namespace`},
		{"hw/nccl.TestHeader", "no NCCL to try: COLLSIM_NCCL_WHEELS names none (pip install --target " +
			"DIR nvidia-nccl-cu13 nvidia-cuda-runtime)"},
	} {
		require.Empty(t, s.unexpected(table(), func(need) bool { return true }), s.test)
		require.NotEmpty(t, s.unexpected(table(), func(need) bool { return false }), s.test)
	}
	require.False(t, lacking("something that nobody looks for"))
}
