package nccl

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"collsim/hw"
)

// wheelVariable names the directory into which NVIDIA's packages nvidia-nccl and
// nvidia-cuda-runtime were installed (pip install --target).
const wheelVariable = "COLLSIM_NCCL_WHEELS"

// wheel is a file of them. Where there are none, the test is skipped.
func wheel(t *testing.T, patterns ...string) string {
	t.Helper()
	dir := os.Getenv(wheelVariable)
	if dir == "" {
		t.Skipf("no NCCL to try: %s names none (pip install --target DIR nvidia-nccl-cu13 "+
			"nvidia-cuda-runtime)", wheelVariable)
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		if len(files) > 0 {
			return files[0]
		}
	}
	t.Skipf("%s has no %s", dir, strings.Join(patterns, ", "))
	return ""
}

const wheelLibrary = "nvidia/nccl/lib/libnccl.so.2"

// TestABI: the numbers and sizes that are assumed are those of the headers, and what is called is
// called as they declare it.
func TestABI(t *testing.T) {
	header := wheel(t, "nvidia/nccl/include/nccl.h")
	cuda := wheel(t, "nvidia/cu1[0-9]/include/cuda.h", "nvidia/cuda_runtime/include/cuda.h")
	program := filepath.Join(t.TempDir(), "abi")
	compile(t, "-Wall", "-Werror", "-Itestdata/headers", "-I"+filepath.Dir(header),
		"-I"+filepath.Dir(cuda), "-o", program, "testdata/abi.c", "-ffunction-sections",
		"-Wl,--gc-sections")
	out, err := exec.Command(program).Output()
	require.NoError(t, err)
	has := map[string]int{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		has[name], err = strconv.Atoi(value)
		require.NoError(t, err)
	}
	want := map[string]int{"ncclScalarHostImmediate": hostImmediate, "CUDA_ERROR_NO_DEVICE": noDevice,
		"CUDA_ERROR_NOT_READY": notReady, "CU_STREAM_NON_BLOCKING": nonBlocking,
		"sizeof(ncclUniqueId)": 128, "_Alignof(ncclUniqueId)": 1,
		"sizeof(ncclResult_t)": 4, "sizeof(ncclRedOp_t)": 4, "sizeof(ncclDataType_t)": 4,
		"sizeof(ncclComm_t)": 8, "sizeof(size_t)": 8, "sizeof(CUdevice)": 4, "sizeof(CUdeviceptr)": 8,
		"sim.size": int(unsafe.Sizeof(simInfo{})), "sim.magic": simMagic,
		"version":          int(unsafe.Offsetof(simInfo{}.version)),
		"estimate":         int(unsafe.Offsetof(simInfo{}.estimate)),
		"sizeof(CUresult)": 4, "NCCL_VERSION_CODE": has["NCCL_VERSION_CODE"]}
	for i, name := range codeNames() {
		if name != "ncclTimeout" || has["NCCL_VERSION_CODE"] >= 23000 {
			want[name] = i
		}
	}
	for _, n := range typeNumbers() {
		want[n.name] = int(n.number)
	}
	for _, n := range operatorNumbers() {
		want[n.name] = int(n.number)
	}
	require.Equal(t, want, has)
	require.Equal(t, inProgress, has["ncclInProgress"])
}

// TestWheel calls NVIDIA's library, as it is: what it can do without a GPU, and what it says where
// it can't go on. It is called in a process of its own, which a fault would end.
func TestWheel(t *testing.T) {
	if os.Getenv(wheelVariable+"_CHILD") == "" {
		wheel(t, wheelLibrary)
		cmd := exec.Command(os.Args[0], "-test.run=^TestWheel$", "-test.v")
		cmd.Env = append(os.Environ(), wheelVariable+"_CHILD=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		t.Log(string(out))
		return
	}
	l, err := loadLibrary(wheel(t, wheelLibrary))
	if err != nil {
		t.Skip(err) // another processor's, or a static build
	}
	version, err := l.version()
	require.NoError(t, err)
	require.Regexp(t, `^NCCL 2\.\d+\.\d+$`, version)
	t.Log(version)
	for _, name := range []string{"ncclGather", "ncclScatter", "ncclAlltoAll"} {
		require.True(t, l.has(name), name)
	}
	require.False(t, l.has("ncclNoSuchFunction"))
	said := map[string]bool{}
	for code := range int32(7) {
		said[l.text("ncclGetErrorString", uintptr(code))] = true
	}
	require.Len(t, said, 7)
	require.Equal(t, "no error", l.text("ncclGetErrorString", 0))
	if _, devices, err := loadDriver(""); err == nil && devices > 0 {
		t.Skipf("%d GPUs: what follows is of a machine without one", devices)
	}
	id, err := l.newID()
	if err != nil { // a network is needed, or a driver
		t.Log(err)
		id = &uniqueID{}
	} else {
		first := *id
		id, err = l.newID()
		require.NoError(t, err)
		require.NotEqual(t, first, *id)
		require.NotEqual(t, uniqueID{}, *id)
	}
	err = l.call(0, 0, "ncclCommInitRank", withID(address(&l.out.pointer), 1, id, 0)...)
	var e *hw.Error
	require.ErrorAs(t, err, &e)
	t.Log(e)
	require.Equal(t, "ncclCommInitRank", e.Call)
	require.Contains(t, []string{"ncclUnhandledCudaError", "ncclSystemError"}, e.Code)
	require.Contains(t, strings.ToLower(e.Text), "cuda", fmt.Sprint(e))
}
