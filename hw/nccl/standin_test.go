package nccl

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw/nccl/nccltest"
)

// TestMain lets the test's program be a process of ranks.
func TestMain(m *testing.M) {
	if code, child := Child(); child {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// standIn takes the stand-in and names it in the environment; without a C compiler, or where
// nothing can be loaded, the test is skipped.
func standIn(t *testing.T) {
	t.Helper()
	if _, err := open("libc.so.6"); err != nil { // a static build
		t.Skip(err)
	}
	dir := t.TempDir()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	library, err := nccltest.Standin("standin", dir)
	require.NoError(t, err)
	t.Setenv(ncclVariable, library)
	t.Setenv(driverVariable, library)
	t.Setenv("COLLSIM_STANDIN_DIR", dir)
}

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
