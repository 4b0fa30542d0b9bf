package cuda

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw/cuda/cudatest"
	"collsim/hw/internal/recorded"
	"collsim/internal/tier"
)

// recorders is where the programs are that record a GPU.
const recorders = "../../tools/record/"

// benched is what the program that times a GPU leaves on the stand-ins for CUDA and cuBLASLt.
func benched(t *testing.T) *recorded.Points {
	t.Helper()
	standinPath(t)
	if out, err := exec.Command("python3", "--version").CombinedOutput(); err != nil {
		t.Skipf("left out: python3: %v %s", err, out)
	}
	products, err := cudatest.Products("standin")
	require.NoError(t, err)
	t.Setenv("COLLSIM_LIBCUBLASLT", products)
	dir := t.TempDir()
	for _, args := range [][]string{{"bench.py", "--small", dir}, {"record.py", dir}} {
		args[0] = recorders + args[0]
		out, err := exec.Command("python3", append([]string{"-B"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	folder, err := recorded.Load(dir)
	require.NoError(t, err)
	require.Len(t, folder.Points, 1)
	return folder.Points[0]
}

// TestRecordBench: the program that times a GPU finds what its kernels leave to be right, and what
// it writes is whole: every experiment, in two runs.
func TestRecordBench(t *testing.T) {
	p := benched(t)
	require.Empty(t, p.Failed)
	require.Contains(t, p.GPU, "stand-in")
	points, dtypes := map[string]int{}, map[string]bool{}
	for i := range p.Points {
		points[p.Points[i].Experiment]++
		dtypes[p.Points[i].DType] = true
	}
	require.Greater(t, points["beside"], 100)
	delete(points, "beside")
	require.Equal(t, map[string]int{"launch": 6, "event": 9, "graph": 9, "matmul": 12, "copy": 18,
		"copies at once": 12, "reduce": 24}, points)
	for _, dtype := range strings.Fields("bfloat16 float16 float32 tf32 float8_e4m3fn") {
		require.True(t, dtypes[dtype], dtype)
	}
}

// TestRecordBenchFails: a kernel that fails ends a run, and is recorded as that, behind what was
// measured until then; so are products and copies that are wrong, which end nothing.
func TestRecordBenchFails(t *testing.T) {
	t.Setenv("COLLSIM_STANDIN", "fault=700")
	p := benched(t)
	require.Len(t, p.Failed, 2)
	for _, f := range p.Failed {
		require.Contains(t, f.What, `the run, after {"experiment": "graph`)
		require.Contains(t, f.Error, "exit status 1: ")
		require.Contains(t, f.Error, ": 700 CUDA_ERROR_ILLEGAL_ADDRESS")
	}
	if !tier.Long {
		return
	}
	t.Setenv("COLLSIM_STANDIN", "")
	t.Setenv("COLLSIM_STANDIN_PRODUCT", "wrong")
	p = benched(t)
	require.Len(t, p.Failed, 2*12) // each product, in each run
	require.Equal(t, "matmul bfloat16 32 16 64", p.Failed[0].What)
	require.Regexp(t, "^element 0, 0 is .*, not ", p.Failed[0].Error)
}

// TestRecordKernels: NVIDIA's compiler takes the kernels that are timed, for an H200 and as PTX.
// They load and store 16 bytes at once, and a reduction loads all its sources before it adds.
func TestRecordKernels(t *testing.T) {
	d := nvrtc(t)
	var source string
	for _, name := range []string{"arguments.h", "kernels.cu"} {
		text, err := os.ReadFile(recorders + name)
		require.NoError(t, err)
		source += string(text)
	}
	_, err := d.compiled(source, []string{"--gpu-architecture=sm_90"}, "CUBIN")
	require.NoError(t, err)
	ptx, err := d.compiled(source, []string{"--gpu-architecture=compute_90"}, "PTX")
	require.NoError(t, err)
	entries := regexp.MustCompile(`\.entry (\w+)\(`).FindAllStringSubmatch(string(ptx), -1)
	require.Len(t, entries, 4+3*4)
	_, sum, _ := strings.Cut(string(ptx), ".entry reduce_bfloat16_8(")
	sum, _, _ = strings.Cut(sum, "\n}")
	loads, adds, _ := strings.Cut(sum, "add.f32")
	require.Equal(t, 8, strings.Count(loads, "ld.global.v4"))
	require.NotContains(t, adds, "ld.global")
	require.Equal(t, 1, strings.Count(adds, "st.global.v4"))
}
