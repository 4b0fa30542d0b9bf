package cuda

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/kernel"
	"collsim/reference"
)

var update = flag.Bool("update", false, "write carried.ptx.gz by COLLSIM_PTX_NVRTC")

// argumentsOf is how long the arguments of each kernel are.
var argumentsOf = map[string]uintptr{"step_of_few": unsafe.Sizeof(fewArguments{}),
	"step_of_many": unsafe.Sizeof(manyArguments{}), "compute": unsafe.Sizeof(operation{})}

// carrier is the NVRTC that makes what is carried. Where none is named, the test is skipped.
func carrier(t *testing.T) *device {
	t.Helper()
	named := os.Getenv("COLLSIM_PTX_NVRTC")
	if named == "" {
		t.Skip("COLLSIM_PTX_NVRTC names no NVRTC")
	}
	t.Setenv(givenCompiler, named)
	return nvrtc(t)
}

// TestCarried: what the program carries is what NVRTC makes of its sources. -update writes it.
func TestCarried(t *testing.T) {
	d := carrier(t)
	var text strings.Builder
	fmt.Fprintf(&text, listOf, d.nvrtc[0], d.nvrtc[1], sourcesSum())
	seen := map[string]bool{}
	for _, name := range carriedNames() {
		defines := strings.Join(name.defines(), " ")
		require.False(t, seen[defines], defines)
		seen[defines] = true
		ptx, err := d.compiled(name.source(), name.options(fmt.Sprintf("compute_%d", carriedTarget)),
			"PTX")
		require.NoError(t, err, defines)
		fmt.Fprintf(&text, "%s%s\n%s\n", oneOf, defines,
			strings.TrimSpace(strings.TrimRight(string(ptx), "\x00")))
	}
	if *update {
		var zipped bytes.Buffer
		z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		require.NoError(t, err)
		_, err = z.Write([]byte(text.String()))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		require.NoError(t, os.WriteFile("carried.ptx.gz", zipped.Bytes(), 0o644))
		t.Logf("%d kernels, %d bytes, %d packed", len(seen), text.Len(), zipped.Len())
		return
	}
	if d.nvrtc != carried().nvrtc {
		t.Skipf("they were made by NVRTC %v, this is %v", carried().nvrtc, d.nvrtc)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	is, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	require.True(t, text.String() == string(is), "the carried kernels are others: see carried.go")
}

// TestCarriedSources: what is carried is of the sources as they are, holds what it says, takes the
// arguments that are passed, and has nothing fused.
func TestCarriedSources(t *testing.T) {
	k := carried()
	require.Equal(t, sourcesSum(), k.sources, "they are of other sources: see carried.go")
	require.GreaterOrEqual(t, k.nvrtc[0], int32(12))
	var want []string
	for _, name := range carriedNames() {
		defines := strings.Join(name.defines(), " ")
		want = append(want, defines)
		ptx := k.ptx[defines]
		require.Contains(t, ptx, fmt.Sprintf("\n.target sm_%d\n", carriedTarget), defines)
		require.Empty(t, fused(ptx), defines)
		for _, f := range name.functions() {
			require.Contains(t, ptx, fmt.Sprintf("%s_param_0[%d]", f, argumentsOf[f]), defines)
		}
	}
	slices.Sort(want)
	require.Equal(t, want, slices.Sorted(maps.Keys(k.ptx)))
}

// TestWithoutCompiler: where there is no NVRTC, the driver is given the PTX that is carried. The
// stand-in takes it for PTX and says that it runs none: so far it is tried. What is not carried,
// and what the GPU is too old for, is told before.
func TestWithoutCompiler(t *testing.T) {
	standin(t, "")
	t.Setenv("COLLSIM_LIBNVRTC", "none")
	what, err := Available(t.Context())
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("stand-in driver: ordering and plumbing, not CUDA, driver 13.0, "+
		"PTX of NVRTC %d.%d", carried().nvrtc[0], carried().nvrtc[1]), what)

	execute := func(dt dtype.Type) error {
		a, err := algos.Find(collective.AllReduce, "ring")
		require.NoError(t, err)
		if dt == dtype.Bool {
			dt = dtype.Uint8
		}
		s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dt,
			Ranks: 2, Count: 8}, algos.Options{})
		require.NoError(t, err)
		e := New() // with images of its own
		_, err = e.Run(context.Background(), &hw.Job{Schedule: s, Inputs: quietInputs(s)})
		return err
	}
	for _, dt := range dtype.All() {
		var failed *hw.Error
		require.ErrorAs(t, execute(dt), &failed, "%v", dt)
		require.Equal(t, [2]string{"cuModuleLoadData", "CUDA_ERROR_INVALID_PTX"},
			[2]string{failed.Call, failed.Code})
		require.Contains(t, failed.Text, "the stand-in runs no PTX; it was given PTX that this program "+
			"carries: a driver of CUDA ")
	}

	o, err := kernel.Parse("matmul m=4 k=3 n=2 float64*float64->float64")
	require.NoError(t, err)
	s := computes(t, o)
	given, err := reference.GivenTensors(s, reference.Normal, 1)
	require.NoError(t, err)
	_, err = New().Run(context.Background(), &hw.Job{Schedule: s, Tensors: given})
	var missing *hw.Missing
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "does not carry the one of -DKIND_matmul -DA=float64")
	require.ErrorContains(t, err, "name it by COLLSIM_LIBNVRTC")

	d := &device{out: &outs{}}
	_, err = d.image(&gpu{name: "an old GPU", capability: 70}, kernelName{of: dtype.Float32})
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "an old GPU: its compute capability is 7.0, this program carries "+
		"kernels for 7.5 and newer")
	for width, dt := range map[int]dtype.Type{1: dtype.Int8, 2: dtype.BFloat16, 4: dtype.Float32,
		8: dtype.Int64} {
		move := programOf(kernel.Op{Kind: kernel.Move, A: dt, Out: dt})
		_, err = d.image(&gpu{capability: 90}, move)
		require.NoError(t, err, "%d", width)
	}
}

// sourcesSum returns a checksum of the kernels' sources.
func sourcesSum() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(numbers+steps+programs)))
}

// stepNames lists all step kernels: one for each type, and one that computes in float32 for each
// narrower float type.
func stepNames() (list []kernelName) {
	for _, t := range dtype.All() {
		if t == dtype.Bool || t.IsComplex() {
			continue // moved as bytes, and computed by components
		}
		list = append(list, kernelName{of: t})
		if widens(t) {
			list = append(list, kernelName{of: t, wide: true})
		}
	}
	return list
}

// carriedNames lists the carried kernels: all of steps, and those of programs in 16- and 32-bit
// floats, with products of 8-bit floats.
func carriedNames() []kernelName {
	list := stepNames()
	add := func(o kernel.Op) { list = append(list, programOf(o)) }
	add(kernel.Op{Kind: kernel.Opaque})
	for _, t := range []dtype.Type{dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64} {
		add(kernel.Op{Kind: kernel.Move, A: t, Out: t})
		add(kernel.Op{Kind: kernel.Expand, A: t, Out: t})
	}
	floats := []dtype.Type{dtype.Float32, dtype.Float16, dtype.BFloat16}
	for _, a := range floats {
		for _, out := range floats {
			if out != a {
				add(kernel.Op{Kind: kernel.Cast, A: a, Out: out})
			}
			if out == a || out == dtype.Float32 {
				add(kernel.Op{Kind: kernel.Matmul, A: a, B: a, Out: out})
				add(kernel.Op{Kind: kernel.Matmul, A: a, B: a, Out: out, TransposeA: true})
				add(kernel.Op{Kind: kernel.Matmul, A: a, B: a, Out: out, TransposeB: true})
				add(kernel.Op{Kind: kernel.Scale, A: a, Out: out})
				add(kernel.Op{Kind: kernel.Sum, A: a, Out: out})
				add(kernel.Op{Kind: kernel.Mean, A: a, Out: out})
			}
		}
		add(kernel.Op{Kind: kernel.Add, A: a, B: a, Out: a})
		e4m3 := dtype.Float8E4M3
		for _, scaling := range []kernel.Scaling{kernel.TensorWise, kernel.RowWise} {
			add(kernel.Op{Kind: kernel.ScaledMatmul, A: e4m3, B: e4m3, Out: a, Scaling: scaling})
		}
	}
	return list
}
