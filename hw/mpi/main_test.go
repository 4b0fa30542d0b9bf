package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
)

// TestMain lets the test's program be a rank.
func TestMain(m *testing.M) {
	if code, child := Child(); child {
		os.Exit(code)
	}
	hwtest.Together()
	os.Exit(withObstacle(m.Run))
}

// withObstacle runs tests in a temporary folder of their own, in which a file has the name of the
// folder that all mpiruns of a user make: ours must not meet it there. All that is left in the end
// is that file.
func withObstacle(run func() int) (code int) {
	dir, err := os.MkdirTemp("", "collsim-mpi-test")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	host, _ := os.Hostname()
	name, _, _ := strings.Cut(host, ".")
	obstacle := fmt.Sprintf("ompi.%s.%d", name, os.Getuid())
	os.WriteFile(filepath.Join(dir, obstacle), nil, 0o600)
	os.Setenv("TMPDIR", dir)
	code = run()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != obstacle {
		fmt.Println("FAIL: left in the temporary folder:", left, err)
		return 1
	}
	return code
}

// mostRanks is how many are tried, of all but programs.
var mostRanks = tier.Of(6, 8)

// available asks mpirun once for all tests.
var available = sync.OnceValues(func() (string, error) {
	return Available(context.Background(), Config{})
})

// needLibrary skips a test where there is no MPI, and returns its version.
func needLibrary(t *testing.T) string {
	t.Helper()
	version, err := available()
	var missing *hw.Missing
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return version
}

// device is one that the test closes. Without MPI, the test is skipped.
func device(t *testing.T, c Config) *Executor {
	t.Helper()
	t.Parallel() // starting ranks is mostly waiting
	needLibrary(t)
	d := New(c)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// TestMPI is what needs ranks: starting them takes longer than what they do, so that all use the
// same. What ends them has some of its own, beside these.
func TestMPI(t *testing.T) {
	d := device(t, Config{})
	d.start(t, mostRanks)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Executor)
	}{{"like-bits", testLikeBits}, {"moving", testMoving}, {"library", testLibrary},
		{"own", testOwn}, {"schedules", testEveryAlgorithm}, {"teams", testTeams},
		{"timeline", testTimeline}, {"errors", testErrors}} {
		t.Run(test.name, func(t *testing.T) { test.run(t, d) })
	}
}
