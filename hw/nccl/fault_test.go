package nccl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
)

// sum is an all_reduce of some elements on three ranks.
func sum(t *testing.T, op collective.Op) *hw.Job {
	t.Helper()
	spec := collective.Spec{Kind: collective.AllReduce, Op: op, Type: dtype.Float32, Ranks: 3,
		Count: 100, Factor: 1}
	if op != collective.PremulSum {
		spec.Factor = 0
	}
	return jobOf(t, spec, 1)
}

// TestCodes: every code that a function returns is an error with the call and the code's name, and
// the executor can be used again.
func TestCodes(t *testing.T) {
	standIn(t)
	names := codeNames()
	for _, c := range []struct {
		call  string
		codes []int
		apart bool
		op    collective.Op
	}{
		{"ncclAllReduce", []int{1, 2, 3, 4, 5, 6, 7, 8}, false, collective.Sum},
		{"ncclGroupStart", []int{3}, true, collective.Sum},
		{"ncclGroupEnd", []int{1, 6}, true, collective.Sum},
		{"ncclCommInitAll", []int{5}, false, collective.Sum},
		{"ncclCommInitRank", []int{2}, true, collective.Sum},
		{"ncclRedOpCreatePreMulSum", []int{4}, false, collective.PremulSum},
		{"ncclRedOpDestroy", []int{4}, false, collective.PremulSum},
		{"ncclCommGetAsyncError", []int{4}, false, collective.Sum},
		{"ncclCommDestroy", []int{1}, false, collective.Sum},
	} {
		d := New(Config{Apart: c.apart})
		for _, code := range c.codes {
			t.Setenv("COLLSIM_STANDIN_FAIL", fmt.Sprintf("%s=%d", c.call, code))
			if c.call == "ncclCommGetAsyncError" { // asked while something goes on
				t.Setenv("COLLSIM_STANDIN_SLOW", "20000")
			}
			_, err := d.Run(context.Background(), sum(t, c.op))
			e := failure(t, err)
			require.Equal(t, []string{c.call, names[code]}, []string{e.Call, e.Code}, c.call)
			require.GreaterOrEqual(t, e.Rank, 0)
			require.Contains(t, e.Text, "as COLLSIM_STANDIN_FAIL asks")
			t.Setenv("COLLSIM_STANDIN_SLOW", "")
		}
		t.Setenv("COLLSIM_STANDIN_FAIL", "")
		_, err := d.Run(context.Background(), sum(t, c.op))
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
}

func failure(t *testing.T, err error) *hw.Error {
	t.Helper()
	var e *hw.Error
	require.ErrorAs(t, err, &e)
	return e
}

// TestDriverCodes: so are those of the driver.
func TestDriverCodes(t *testing.T) {
	standIn(t)
	for _, c := range []struct {
		call string
		code int
		name string
	}{
		{"cuMemAlloc_v2", 2, "CUDA_ERROR_OUT_OF_MEMORY"},
		{"cuMemcpyHtoD_v2", 700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
		{"cuMemcpyDtoH_v2", 700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
		{"cuStreamQuery", 719, "CUDA_ERROR_LAUNCH_FAILED"},
		{"cuStreamCreate", 201, "CUDA_ERROR_INVALID_CONTEXT"},
		{"cuDevicePrimaryCtxRetain", 999, "999"}, // which the stand-in has no name for
		{"cuMemFree_v2", 1, "CUDA_ERROR_INVALID_VALUE"},
	} {
		t.Setenv("COLLSIM_STANDIN_FAIL", fmt.Sprintf("%s=%d", c.call, c.code))
		d := New(Config{})
		_, err := d.Run(context.Background(), sum(t, collective.Sum))
		e := failure(t, err)
		require.Equal(t, []string{c.call, c.name}, []string{e.Call, e.Code})
		require.Equal(t, 0, e.Rank)
		require.NoError(t, d.Close())
	}
	t.Setenv("COLLSIM_STANDIN_FAIL", "")
	t.Setenv("COLLSIM_STANDIN_MEMORY", "1000")
	d := New(Config{Apart: true})
	defer d.Close()
	_, err := d.Run(context.Background(), jobOf(t, collective.Spec{Kind: collective.AllReduce,
		Op: collective.Sum, Type: dtype.Float32, Ranks: 2, Count: 1000}, 1))
	require.ErrorContains(t, err,
		"cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: out of memory (4000 bytes)")
}

// TestAsynchronous: an error that ends no call and no stream is found by asking.
func TestAsynchronous(t *testing.T) {
	standIn(t)
	for _, apart := range []bool{false, true} {
		t.Setenv("COLLSIM_STANDIN_FAIL", "async=6@1")
		d := New(Config{Apart: apart})
		_, err := d.Run(context.Background(), sum(t, collective.Sum))
		e := failure(t, err)
		require.Equal(t, hw.Error{Call: "asynchronous", Code: "ncclRemoteError", Rank: 1, Lane: -1,
			Step: -1, Text: "remote process exited or there was a network error"}, *e)
		require.NoError(t, d.Close())
	}
}

// TestHang: a run in which a rank does not take part is ended, and who waits is named.
func TestHang(t *testing.T) {
	standIn(t)
	for _, c := range []struct {
		fault string
		apart bool
		want  string
	}{
		{"hang=0@2", false, "rank 0 is in ncclAllReduce, rank 1 is in ncclAllReduce, " +
			"rank 2 is in ncclAllReduce"},
		{"hang=0@2", true, "rank 2 is in ncclAllReduce"},
	} {
		t.Setenv("COLLSIM_STANDIN_FAIL", c.fault)
		d := New(Config{Apart: c.apart})
		job := sum(t, collective.Sum)
		job.Env.Timeout = 300 * time.Millisecond
		_, err := d.Run(context.Background(), job)
		e := failure(t, err)
		require.Equal(t, []string{"wait", "timeout"}, []string{e.Call, e.Code})
		require.Contains(t, e.Text, c.want)
		t.Setenv("COLLSIM_STANDIN_FAIL", "")
		_, err = d.Run(context.Background(), sum(t, collective.Sum))
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
}

// TestBroadcastHang: of ranks that have ended none is said to wait.
func TestBroadcastHang(t *testing.T) {
	standIn(t)
	t.Setenv("COLLSIM_STANDIN_FAIL", "hang=0@2")
	d := New(Config{})
	defer d.Close()
	job := jobOf(t, collective.Spec{Kind: collective.Broadcast, Type: dtype.Int8, Ranks: 4,
		Count: 100}, 1)
	job.Env.Timeout = 300 * time.Millisecond
	_, err := d.Run(context.Background(), job)
	require.Equal(t, 2, failure(t, err).Rank)
	require.ErrorContains(t, err, ": rank 2 is in ncclBroadcast, rank 3 is in ncclBroadcast")
	require.NotContains(t, err.Error(), "rank 1 is")
}

// TestDeath: a process that ends takes its rank's name into the error.
func TestDeath(t *testing.T) {
	standIn(t)
	t.Setenv("COLLSIM_STANDIN_FAIL", "die=9@1")
	d := New(Config{Apart: true})
	_, err := d.Run(context.Background(), sum(t, collective.Sum))
	e := failure(t, err)
	require.Equal(t, []any{"process", "killed", 1}, []any{e.Call, e.Code, e.Rank})
	require.NoError(t, d.Close())
}

// TestMissing: what is not there is named, with where it was looked for and how to get it.
func TestMissing(t *testing.T) {
	standIn(t)
	good := os.Getenv(ncclVariable)
	empty := filepath.Join(t.TempDir(), "empty.so")
	compile(t, "-shared", "-o", empty, "-x", "c", "/dev/null")
	for _, c := range []struct {
		nccl, driver, devices string
		what, want            string
	}{
		{"nowhere.so", good, "8", "NCCL", "nowhere.so"},
		{empty, good, "8", "NCCL", "ncclGetVersion"},
		{good, "nowhere.so", "8", "CUDA driver", "nowhere.so"},
		{good, empty, "8", "CUDA driver", "cuInit"},
		{good, good, "0", "GPU", "cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"},
	} {
		t.Setenv(ncclVariable, c.nccl)
		t.Setenv(driverVariable, c.driver)
		t.Setenv("COLLSIM_STANDIN_DEVICES", c.devices)
		d := New(Config{})
		_, err := d.Run(context.Background(), sum(t, collective.Sum))
		var missing *hw.Missing
		require.ErrorAs(t, err, &missing)
		require.Equal(t, c.what, missing.What)
		require.Contains(t, missing.Why, c.want)
		require.NotEmpty(t, missing.Get)
		if strings.HasPrefix(c.want, "nowhere") {
			require.Contains(t, missing.Get, "looked for nowhere.so, where the system's loader looks")
			require.Contains(t, missing.Get, "or name the file by COLLSIM_LIB")
		}
		_, err = Available(Config{})
		require.True(t, errors.As(err, &missing))
	}
}

// TestOldLibrary: a function that came later than the library is missed when it is needed.
func TestOldLibrary(t *testing.T) {
	standIn(t)
	old := filepath.Join(t.TempDir(), "old.so")
	sources, err := filepath.Glob("standin/*.c")
	require.NoError(t, err)
	compile(t, append([]string{"-DncclAlltoAll=notYet", "-shared", "-fPIC", "-pthread", "-o", old},
		append(sources, "-lm")...)...)
	t.Setenv(ncclVariable, old)
	t.Setenv(driverVariable, old)
	d := New(Config{})
	defer d.Close()
	_, err = d.Run(context.Background(), jobOf(t, collective.Spec{Kind: collective.AllToAll,
		Type: dtype.Int8, Ranks: 2, Count: 3}, 1))
	require.ErrorContains(t, err, "has no such function: it came with NCCL 2.28")
}
