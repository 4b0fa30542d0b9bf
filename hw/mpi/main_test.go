package mpi

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/hwtest"
)

// TestMain lets the test's program be a rank.
func TestMain(m *testing.M) {
	if code, child := Child(); child {
		os.Exit(code)
	}
	hwtest.Together()
	os.Exit(m.Run())
}

// device is one that the test closes. Without MPI, the test is skipped.
func device(t *testing.T) *Executor {
	t.Helper()
	t.Parallel() // starting ranks is mostly waiting
	var missing *hw.Missing
	if _, err := Available(context.Background(), Config{}); errors.As(err, &missing) {
		t.Skip(err)
	} else {
		require.NoError(t, err)
	}
	d := New(Config{})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// TestMPI is what needs ranks: starting them takes longer than what they do, so that all use the
// same. The last ends them.
func TestMPI(t *testing.T) {
	d := device(t)
	d.start(t, 8)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Executor)
	}{{"like-bits", testLikeBits}, {"moving", testMoving}, {"library", testLibrary},
		{"own", testOwn},
		{"schedules", testEveryAlgorithm}, {"programs", testPrograms}, {"teams", testTeams},
		{"timeline", testTimeline}, {"errors", testErrors},
		{"stall", testStall}} {
		t.Run(test.name, func(t *testing.T) { test.run(t, d) })
	}
}
