package cuda

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// headersVariable names the directory into which NVIDIA's package nvidia-cuda-runtime was installed
// (pip install --target); nvrtc.h is where the library is that COLLSIM_LIBNVRTC names.
const headersVariable = "COLLSIM_NCCL_WHEELS"

// header is a directory with a header. Where there is none, the test is skipped.
func header(t *testing.T, patterns ...string) string {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		if len(files) > 0 {
			return filepath.Dir(files[0])
		}
	}
	t.Skipf("there is no %s", strings.Join(patterns, ", "))
	return ""
}

// TestABI: the numbers that are assumed are those of the headers, and what is called is called as
// they declare it.
func TestABI(t *testing.T) {
	wheels := os.Getenv(headersVariable)
	if wheels == "" {
		t.Skipf("no headers to try: %s names none", headersVariable)
	}
	cuda := header(t, filepath.Join(wheels, "nvidia/cu1[0-9]/include/cuda.h"),
		filepath.Join(wheels, "nvidia/cuda_runtime/include/cuda.h"))
	nvrtc := header(t, filepath.Join(filepath.Dir(os.Getenv(givenCompiler)), "../include/nvrtc.h"))
	program := filepath.Join(t.TempDir(), "abi")
	out, err := exec.Command("cc", "-Wall", "-Werror", "-Wno-unused-but-set-parameter", "-I"+cuda,
		"-I"+nvrtc, "-o", program, "testdata/abi.c", "-ffunction-sections",
		"-Wl,--gc-sections").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program).Output()
	require.NoError(t, err)
	has := map[string]int{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		has[name], err = strconv.Atoi(value)
		require.NoError(t, err)
	}
	want := map[string]int{"CUDA_ERROR_NOT_READY": notReady,
		"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED":       alreadyReached,
		"CU_STREAM_NON_BLOCKING":                       streamNonBlocking,
		"CU_STREAM_CAPTURE_MODE_RELAXED":               captureRelaxed,
		"CU_EVENT_RECORD_EXTERNAL":                     recordExternal,
		"CU_STREAM_WAIT_VALUE_GEQ":                     waitAtLeast,
		"CU_MEMHOSTALLOC_PORTABLE":                     hostPortable,
		"CU_MEMHOSTALLOC_DEVICEMAP":                    hostMapped,
		"CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT":     multiprocessors,
		"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": capabilityMajor,
		"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR": capabilityMinor,
		"sizeof(CUdevice)":                             4,
		"sizeof(CUresult)":                             4,
		"sizeof(nvrtcResult)":                          4,
	}
	for _, pointer := range []string{"CUdeviceptr", "CUcontext", "CUgraphExec", "nvrtcProgram"} {
		want["sizeof("+pointer+")"] = 8
	}
	for name, code := range standinCodes(t) {
		if _, there := has[name]; there {
			want[name] = code
		}
	}
	require.Equal(t, want, has)
}

// standinCodes are the errors of the stand-in by their names.
func standinCodes(t *testing.T) map[string]int {
	t.Helper()
	source, err := os.ReadFile("standin/standin.c")
	require.NoError(t, err)
	numbers, codes := map[string]int{}, map[string]int{}
	for _, m := range regexp.MustCompile(`\b([A-Z_]+) = (\d+)`).FindAllStringSubmatch(string(source),
		-1) {
		numbers[m[1]], err = strconv.Atoi(m[2])
		require.NoError(t, err)
	}
	for _, m := range regexp.MustCompile(`\{([A-Z_]+), "(CUDA_ERROR_\w+)"`).FindAllStringSubmatch(
		string(source), -1) {
		codes[m[2]] = numbers[m[1]]
	}
	require.Greater(t, len(codes), 10)
	return codes
}

// TestNeeded: every function that the ABI's test calls is looked up, and none besides.
func TestNeeded(t *testing.T) {
	source, err := os.ReadFile("testdata/abi.c")
	require.NoError(t, err)
	called := map[string]bool{}
	for _, m := range regexp.MustCompile(`\b((?:cu|nvrtc)[A-Z]\w*)\(`).FindAllStringSubmatch(
		string(source), -1) {
		called[m[1]] = true
	}
	for _, f := range append(driverNeeded().functions, compilerNeeded().functions...) {
		require.True(t, called[f], "%s is not called there", f)
		delete(called, f)
	}
	require.Empty(t, called)
}
