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
	"collsim/hw/internal/clib"
	"collsim/internal/tier"
)

// sum is an all_reduce of some elements on three ranks.
func sum(t *testing.T) *hw.Job {
	t.Helper()
	return jobOf(t, faulty("", collective.AllReduce, collective.Sum), 1)
}

// TestCodes: every code that a function returns for a rank is an error with the call, the code's
// name and the rank, and the executor can be used again. In the short tier one function returns
// every code, and every function one.
func TestCodes(t *testing.T) {
	standIn(t)
	const anyone = -2
	names := append(codeNames(), "9") // which nccl.h does not have
	for i, c := range []struct {
		call  string
		kind  collective.Kind
		op    collective.Op
		apart bool
		rank  int // whose call fails; -1 is nobody's, anyone that of whoever comes first
	}{
		{"ncclAllReduce", collective.AllReduce, collective.Sum, false, 2},
		{"ncclReduce", collective.Reduce, collective.Max, false, 1},
		{"ncclReduceScatter", collective.ReduceScatter, collective.Sum, false, 0},
		{"ncclBroadcast", collective.Broadcast, 0, false, 2},
		{"ncclAllGather", collective.AllGather, 0, false, 1},
		{"ncclGather", collective.Gather, 0, false, 0},
		{"ncclScatter", collective.Scatter, 0, false, 2},
		{"ncclAlltoAll", collective.AllToAll, 0, false, 1},
		{"ncclSend", collective.SendRecv, 0, false, 0},
		{"ncclRecv", collective.AllToAll, 0, false, 2},
		{"ncclGroupStart", collective.AllReduce, collective.Sum, true, anyone},
		{"ncclGroupEnd", collective.AllReduce, collective.Sum, true, anyone},
		{"ncclGetUniqueId", collective.AllReduce, collective.Sum, false, -1},
		{"ncclCommInitAll", collective.AllReduce, collective.Sum, false, 0},
		{"ncclCommInitRank", collective.AllReduce, collective.Sum, true, 2},
		{"ncclRedOpCreatePreMulSum", collective.AllReduce, collective.PremulSum, false, 1},
		{"ncclRedOpDestroy", collective.AllReduce, collective.PremulSum, false, 0},
		{"ncclCommGetAsyncError", collective.AllReduce, collective.Sum, false, 2},
		{"ncclCommDestroy", collective.AllReduce, collective.Sum, false, 1},
	} {
		d := New(Config{Apart: c.apart})
		job := jobOf(t, faulty(c.call, c.kind, c.op), 1)
		for code := 1; code < len(names); code++ {
			if !tier.Long && i > 0 && code != 1+i%9 {
				continue
			}
			t.Setenv("COLLSIM_STANDIN_FAIL", fmt.Sprintf("%s=%d@%d", c.call, code, c.rank))
			if c.call == "ncclCommGetAsyncError" { // asked while something goes on
				t.Setenv("COLLSIM_STANDIN_SLOW", "500000")
			}
			_, err := d.Run(context.Background(), job)
			e := failure(t, err)
			require.Equal(t, []string{c.call, names[code]}, []string{e.Call, e.Code}, c.call)
			if c.rank == anyone {
				require.Contains(t, []int{0, 1, 2}, e.Rank, c.call)
			} else {
				require.Equal(t, c.rank, e.Rank, c.call)
			}
			require.Contains(t, e.Text, "as COLLSIM_STANDIN_FAIL asks")
			t.Setenv("COLLSIM_STANDIN_SLOW", "")
		}
		t.Setenv("COLLSIM_STANDIN_FAIL", "")
		_, err := d.Run(context.Background(), job)
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
}

// faulty is a collective on three ranks that calls a function.
func faulty(call string, k collective.Kind, op collective.Op) collective.Spec {
	s := collective.Spec{Kind: k, Op: op, Type: dtype.Float32, Ranks: 3, Count: 100}
	if op == collective.PremulSum {
		s.Factor = 1
	}
	if call == "ncclRecv" {
		s.Kind, s.Count, s.Splits = collective.AllToAllV, 0, [][]int64{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
	}
	return s
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
		_, err := d.Run(context.Background(), sum(t))
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

// TestAsynchronous: an error that ends no call and no stream is found by asking, and "in progress"
// is none.
func TestAsynchronous(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{false, true} {
		t.Run(fmt.Sprintf("apart %v", apart), func(t *testing.T) {
			d := beside(t, apart)
			for _, code := range tier.Of([]int{6}, []int{1, 2, 3, 4, 5, 6, 8}) {
				d.fails(fmt.Sprintf("async=%d@1", code))
				_, err := d.Run(context.Background(), sum(t))
				e := failure(t, err)
				text := e.Text
				e.Text = ""
				require.Equal(t, hw.Error{Call: "asynchronous", Code: codeNames()[code], Rank: 1, Lane: -1,
					Step: -1}, *e)
				if code == 6 {
					require.Equal(t, "remote process exited or there was a network error", text)
				}
			}
			d.fails("async=7@1")
			job := sum(t)
			job.Env.Timeout = 300 * time.Millisecond
			_, err := d.Run(context.Background(), job)
			require.Equal(t, "timeout", failure(t, err).Code)
		})
	}
}

// TestHang: a run in which a rank does not take part is ended, and who waits is named.
func TestHang(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		apart      bool
	}{
		{"together", "rank 0 is in ncclAllReduce, rank 1 is in ncclAllReduce, " +
			"rank 2 is in ncclAllReduce", false},
		{"apart", "rank 2 is in ncclAllReduce", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := beside(t, c.apart)
			d.fails("hang=0@2")
			job := sum(t)
			job.Env.Timeout = 300 * time.Millisecond
			_, err := d.Run(context.Background(), job)
			e := failure(t, err)
			require.Equal(t, []string{"wait", "timeout"}, []string{e.Call, e.Code})
			require.Contains(t, e.Text, c.want)
			d.fails("")
			_, err = d.Run(context.Background(), sum(t))
			require.NoError(t, err)
		})
	}
}

// TestBroadcastHang: of ranks that have ended none is said to wait.
func TestBroadcastHang(t *testing.T) {
	d := beside(t, false)
	d.fails("hang=0@2")
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
	d := beside(t, true)
	d.fails("die=9@1")
	_, err := d.Run(context.Background(), sum(t))
	e := failure(t, err)
	require.Equal(t, []any{"process", "killed", 1}, []any{e.Call, e.Code, e.Rank})
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
		_, err := d.Run(context.Background(), sum(t))
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
	sources, err := filepath.Glob("standin/*.[ch]")
	require.NoError(t, err)
	old, err := clib.Build(sources, "-DncclAlltoAll=notYet", "-pthread", "-lm")
	require.NoError(t, err)
	t.Setenv(ncclVariable, old)
	t.Setenv(driverVariable, old)
	d := New(Config{})
	defer d.Close()
	_, err = d.Run(context.Background(), jobOf(t, collective.Spec{Kind: collective.AllToAll,
		Type: dtype.Int8, Ranks: 2, Count: 3}, 1))
	require.ErrorContains(t, err, "has no such function: it came with NCCL 2.28")
}
