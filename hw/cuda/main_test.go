package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/cuda/cudatest"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
	"collsim/kernel"
	"collsim/reference"
	"collsim/schedule"
)

// givenCompiler is where TestMain puts what COLLSIM_LIBNVRTC was before.
const givenCompiler = "COLLSIM_TEST_LIBNVRTC"

// TestMain has the package load the stand-in driver in place of CUDA; without a C compiler there is
// none. The test's program may be a machine.
func TestMain(m *testing.M) {
	if code, child := childOf(lossy); child {
		os.Exit(code)
	}
	os.Setenv(givenCompiler, os.Getenv("COLLSIM_LIBNVRTC"))
	environment, err := cudatest.Standin("standin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for name, value := range environment {
		os.Setenv(name, value)
	}
	hwtest.Together()
	os.Exit(tier.Main(m))
}

// standin has the device behave as the options say from now on, and says how often a dropped wait
// has mattered since.
func standin(t *testing.T, options string) (waits, inverted func() int) {
	t.Helper()
	handle, err := open(standinPath(t))
	require.NoError(t, err)
	at := func(name string) uintptr {
		f, err := symbol(handle, name)
		require.NoError(t, err)
		return f
	}
	text := []byte(options + "\x00")
	o := &outs{source: text}
	invoke(at("standin_configure"), start(o.source))
	return func() int { return int(invoke(at("standin_waits"))) },
		func() int { return int(invoke(at("standin_inverted"))) }
}

// standinPath is where the stand-in is. Without a C compiler, the test is skipped.
func standinPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("COLLSIM_LIBCUDA")
	if path == "" {
		t.Skip("no stand-in driver: there is no C compiler")
	}
	return path
}

// compiledOnce are the kernels of all executors of tests, which run one after the other.
var compiledOnce = map[imageName][]byte{}

// executor is one that the test closes.
func executor(t *testing.T) *Executor {
	e := New()
	e.images = compiledOnce
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// agrees compares with the interpreter.
func agrees(t *testing.T, e hw.Executor, s *schedule.Schedule, env hw.Env, r *rand.Rand) {
	t.Helper()
	in := hwtest.AnyInputs(s, r)
	options := reference.RunOptions{}
	if env.Float32 {
		options.Accumulate = reference.InFloat32
	}
	want, err := reference.RunBytes(s, in, options)
	require.NoError(t, err)
	result, err := e.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in, Env: env})
	require.NoError(t, err, "%s %v", s.Name, s.Spec)
	require.Equal(t, env.Float32, result.Float32)
	if env.Trace {
		require.NoError(t, result.Trace.Validate())
	}
	hwtest.SameOutputs(t, s, want, result.Outputs)
}

// sampled is a part of a list in the short tier, in which each kind is met and the last are, and
// all of it in the long one.
func sampled(list []kernel.Op) (some []kernel.Op) {
	const last = 15
	every, met := tier.Of(9, 1), map[kernel.Kind]bool{}
	for i, o := range list {
		if i%every == 0 || i >= len(list)-last || !met[o.Kind] {
			met[o.Kind] = true
			some = append(some, o)
		}
	}
	return some
}
