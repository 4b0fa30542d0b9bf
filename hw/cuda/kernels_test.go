package cuda

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/kernel"
)

// TestKernels: every operator in every type has the bits of the reference, of 4,000 random patterns
// a rank, and of all pairs of 8 bits.
func TestKernels(t *testing.T) {
	standin(t, "")
	ring, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	e := executor(t)
	for _, name := range stepNames() {
		for i, op := range append(hwtest.Operators(collective.AllReduce),
			collective.Spec{Op: collective.Avg}) {
			spec := collective.Spec{Kind: collective.AllReduce, Type: name.of, Op: op.Op, Avg: op.Avg,
				Factor: op.Factor, Ranks: 3, Count: 4000}
			if name.of.Width() == 1 {
				spec.Ranks, spec.Count = 2, 1<<16
			}
			if collective.CheckOp(op.Op, name.of) != nil || op.Op >= collective.And {
				continue
			}
			s, err := ring.Build(spec, algos.Options{})
			require.NoError(t, err)
			agrees(t, e, s, hw.Env{Float32: name.wide}, rand.New(rand.NewPCG(uint64(i), 8)))
		}
	}
}

// TestLayout: the kernels' arguments are as long as C has them, as the stand-in's compiler says.
func TestLayout(t *testing.T) {
	standin(t, "")
	d := &device{out: &outs{}}
	require.NoError(t, d.find())
	for name, want := range map[string]uintptr{"step_of_few_size": unsafe.Sizeof(fewArguments{}),
		"step_of_many_size": unsafe.Sizeof(manyArguments{}),
		"compute_size":      unsafe.Sizeof(operation{})} {
		kernels := kernelName{of: dtype.Int8}
		if name == "compute_size" {
			kernels = programOf(kernel.Op{Kind: kernel.Opaque})
		}
		image, err := d.image(d.gpus[0], kernels)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "kernels.so")
		require.NoError(t, os.WriteFile(path, image, 0o600))
		handle, err := open(path)
		require.NoError(t, err)
		at, err := symbol(handle, name)
		require.NoError(t, err)
		require.Equal(t, want, **(**uintptr)(unsafe.Pointer(&at)), name)
	}
}

// nvrtc is NVIDIA's compiler. Where there is none, the test is skipped.
func nvrtc(t *testing.T) *device {
	t.Helper()
	t.Setenv("COLLSIM_LIBNVRTC", os.Getenv(givenCompiler))
	d := &device{out: &outs{}}
	var err error
	d.compiler, err = compilerNeeded().load()
	if missing := (*hw.Missing)(nil); errors.As(err, &missing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.NoError(t, d.compile("nvrtcVersion", address(&d.nvrtc[0]), address(&d.nvrtc[1])))
	t.Logf("NVRTC %d.%d", d.nvrtc[0], d.nvrtc[1])
	return d
}

// What is looked at in PTX: operations of floats, of which the compiler of PTX leaves those alone
// that say how they round.
var floats = regexp.MustCompile(`\b(add|sub|mul|fma|mad|div|rcp|sqrt)` +
	`((?:\.\w+)*)\.f(?:16|16x2|32|64)\b`)

// fused are the operations that could give other bits than one rounding after each does.
func fused(ptx string) (found []string) {
	for _, m := range floats.FindAllStringSubmatch(ptx, -1) {
		rounds := strings.HasPrefix(m[2], ".rn")
		if m[1] == "fma" || m[1] == "mad" || !rounds || strings.Contains(m[2], "ftz") {
			found = append(found, m[0])
		}
	}
	return found
}

// TestNVRTC: NVIDIA's compiler takes the kernels of every type; what it makes adds and
// multiplies with one rounding each, and has the arguments that are passed. The check finds
// what is fused where something is.
func TestNVRTC(t *testing.T) {
	d := nvrtc(t)
	for _, name := range stepNames() {
		ptx := inPTX(t, d, name)
		operations := len(floats.FindAllString(ptx, -1))
		require.Equal(t, name.of.IsFloat(), operations > 0, "%+v", name)
		for kernel, size := range map[string]uintptr{"step_of_few": unsafe.Sizeof(fewArguments{}),
			"step_of_many": unsafe.Sizeof(manyArguments{})} {
			require.Contains(t, ptx, fmt.Sprintf("%s_param_0[%d]", kernel, size))
		}
	}
	met := map[kernelName]bool{}
	for _, o := range append(sampled(someOps(t)), kernel.Op{Kind: kernel.Opaque, Time: 1}) {
		name := programOf(o)
		if met[name] {
			continue
		}
		met[name] = true
		ptx := inPTX(t, d, name)
		if o.IsMatmul() && o.A.IsFloat() {
			require.Regexp(t, `add\.rn\.f(32|64)`, ptx, "%v", o)
			require.Regexp(t, `mul\.rn\.f(32|64)`, ptx, "%v", o)
		}
		require.Contains(t, ptx, fmt.Sprintf("compute_param_0[%d]", unsafe.Sizeof(operation{})))
	}
	t.Logf("%d kernels of programs", len(met))
	const product = `extern "C" __global__ void f(float *x) { *x = x[1] * x[2] + x[3]; }`
	ptx, err := d.compiled(product, []string{"--gpu-architecture=compute_90"}, "PTX")
	require.NoError(t, err)
	require.Equal(t, []string{"fma.rn.f32"}, fused(string(ptx)))

	_, err = d.compiled("no C", []string{"--fmad=false"}, "PTX")
	require.ErrorContains(t, err, "nvrtcCompileProgram: NVRTC_ERROR_COMPILATION: default_program")
}

// inPTX is what the compiler makes of kernels, in which nothing is fused.
func inPTX(t *testing.T, d *device, name kernelName) string {
	t.Helper()
	ptx, err := d.compiled(name.source(), name.options("compute_90"), "PTX")
	require.NoError(t, err, "%+v", name)
	require.Empty(t, fused(string(ptx)), "%+v", name)
	return string(ptx)
}

// targeted are kernels of steps and of programs that are compiled for each GPU.
func targeted(t *testing.T) []kernelName {
	list := []kernelName{{of: dtype.Float16, wide: true}, programOf(kernel.Op{Kind: kernel.Opaque})}
	for _, text := range []string{"matmul m=1 k=1 n=1 bfloat16*bfloat16->bfloat16",
		"scaled_matmul m=1 k=1 n=1 float8_e4m3fn*float8_e5m2->bfloat16 row-wise bias=bfloat16",
		"mean 1 axis=0 float32->float16", "cast 1 int64->bfloat16", "move 1x1 axis=1 int8->int8"} {
		o, err := kernel.Parse(text)
		require.NoError(t, err)
		list = append(list, programOf(o))
	}
	return list
}

// TestTargets: there is machine code for the GPUs from Turing to Blackwell that the compiler knows.
func TestTargets(t *testing.T) {
	d := nvrtc(t)
	o := d.out
	require.NoError(t, d.compile("nvrtcGetNumSupportedArchs", address(&o.number)))
	require.NoError(t, d.compile("nvrtcGetSupportedArchs", address(&o.list[0])))
	made := 0
	for _, target := range o.list[:o.number] {
		switch target {
		case 75, 80, 86, 89, 90, 100:
			made++
			for _, name := range targeted(t) {
				image, err := d.compiled(name.source(), name.options(fmt.Sprintf("sm_%d", target)),
					"CUBIN")
				require.NoError(t, err)
				require.Equal(t, "\x7fELF", string(image[:4]))
			}
		}
	}
	require.Greater(t, made, 3)
	// A device that is newer than the compiler gets PTX, one that is older than all it knows
	// nothing.
	g := &gpu{name: "a newer GPU", capability: 999}
	image, err := d.image(g, kernelName{of: dtype.Float32})
	require.NoError(t, err)
	require.Contains(t, string(image), ".target sm_")
	g.capability = 10
	_, err = d.image(g, kernelName{of: dtype.Float32})
	require.ErrorContains(t, err, "does not know its compute capability 1.0")
}

// TestMissing: a library that is not there, or not the one, is named, with where it was looked for
// and how to get it.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ variable, value, want string }{
		{"COLLSIM_LIBCUDA", "nowhere.so", "CUDA's driver: nowhere.so: cannot open shared object " +
			"file: No such file or directory (looked for where the system's loader does: " +
			"LD_LIBRARY_PATH, /opt/lib, and ldconfig -p); install NVIDIA's driver, or name it by " +
			"COLLSIM_LIBCUDA"},
		{"COLLSIM_LIBCUDA", "libc.so.6", "CUDA's driver: libc.so.6 has no cuInit"},
		{"COLLSIM_LIBNVRTC", "nowhere.so", "pip install nvidia-cuda-nvrtc), or name it by " +
			"COLLSIM_LIBNVRTC"},
	} {
		if c.variable != "COLLSIM_LIBCUDA" {
			standin(t, "")
		}
		t.Run(c.want[:20], func(t *testing.T) {
			t.Setenv("LD_LIBRARY_PATH", "/opt/lib")
			t.Setenv(c.variable, c.value)
			_, err := Available(t.Context())
			var missing *hw.Missing
			require.ErrorAs(t, err, &missing)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestAvailable: the stand-in says what it is, wherever a result says what it ran on.
func TestAvailable(t *testing.T) {
	standin(t, "")
	what, err := Available(t.Context())
	require.NoError(t, err)
	require.Equal(t, "stand-in driver: ordering and plumbing, not CUDA, driver 13.0, NVRTC 13.0", what)
}
