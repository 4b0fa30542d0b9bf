package nccl

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw/hwtest"
	"collsim/hw/nccl/nccltest"
)

// TestMain lets the test's program be a process of ranks.
func TestMain(m *testing.M) {
	if code, child := Child(); child {
		os.Exit(code)
	}
	hwtest.Together()
	os.Exit(m.Run())
}

// standIn takes the stand-in and names it in the environment; without a C compiler, or where
// nothing can be loaded, the test is skipped.
func standIn(t *testing.T) {
	t.Helper()
	library, dir := placed(t)
	t.Setenv(ncclVariable, library)
	t.Setenv(driverVariable, library)
	t.Setenv("COLLSIM_STANDIN_DIR", dir)
}

// placed is the stand-in, and the folder that it is in.
func placed(t *testing.T) (library, dir string) {
	t.Helper()
	if _, err := open("libc.so.6"); err != nil { // a static build
		t.Skip(err)
	}
	dir = t.TempDir()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	library, err := nccltest.Standin("standin", dir)
	require.NoError(t, err)
	return library, dir
}

// beside is an executor for a test that runs beside others, mostly waiting: the stand-in is named
// by what it is given, and not in the environment, which all tests share.
func beside(t *testing.T, apart bool) *Executor {
	t.Helper()
	t.Parallel()
	library, dir := placed(t)
	d := New(Config{Library: library, Driver: library, Apart: apart,
		environ: []string{"", "COLLSIM_STANDIN_DIR=" + dir}})
	d.fails("")
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// fails has processes of beside that are started from now on fail so.
func (e *Executor) fails(how string) { e.config.environ[0] = "COLLSIM_STANDIN_FAIL=" + how }

// compile runs the C compiler; where there is none, the test is skipped.
func compile(t *testing.T, args ...string) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.Command(cc, args...).CombinedOutput()
	require.NoError(t, err, string(out))
}
