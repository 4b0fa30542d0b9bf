package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/rank"
	"collsim/reference"
	"collsim/schedule"
)

// several is machines that are processes here, the stand-in of each as one of the options says.
func several(t *testing.T, options ...string) *Machines {
	t.Helper()
	standinPath(t)
	m, err := NewMachines(Config{Hosts: make([]string, len(options))})
	require.NoError(t, err)
	m.launcher.Environ = func(r rank.Rendezvous) []string {
		return append(environ(r), "COLLSIM_STANDIN="+options[r.Worker])
	}
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// equal compares with the interpreter.
func equal(t *testing.T, m *Machines, s *schedule.Schedule, env hw.Env, r *rand.Rand) {
	t.Helper()
	in := anything(s, r)
	options := reference.RunOptions{}
	if env.Float32 {
		options.Accumulate = reference.InFloat32
	}
	want, err := reference.RunBytes(s, in, options)
	require.NoError(t, err)
	result, err := m.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in, Env: env})
	require.NoError(t, err, "%s %v", s.Name, s.Spec)
	if env.Trace {
		require.NoError(t, result.Trace.Validate())
	}
	for rank := range want {
		require.Equal(t, want[rank], append([]byte{}, result.Outputs[rank]...),
			"%s %v %v %v, rank %d of %d", s.Name, s.Spec.Kind, s.Spec.Op, s.Spec.Type, rank, len(want))
	}
}

// TestMachines: every algorithm, its ranks on two machines, the second with two GPUs, gives the bits
// of the interpreter; one-sided steps from one to the other are refused by name.
func TestMachines(t *testing.T) {
	m := several(t, "seed=6 delay=20", "seed=7 delay=60 devices=2")
	played, refused := 0, 0
	for i, a := range algos.Table() {
		for j, kind := range a.Kinds {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			spec := anySpec(kind, []int{4, 6, 3}[i%3], r)
			if spec.Op = operators(kind)[(i+j)%len(operators(kind))].Op; kind != collective.Barrier {
				spec.Type = dtype.All()[(i+j)%len(dtype.All())]
			}
			s, err := a.Build(spec, algos.Options{})
			if err != nil {
				continue // not for so many ranks
			}
			if err := refusal(s, 2); err != nil {
				require.Contains(t, err.Error(), "which is on another machine")
				refused++
				continue
			}
			equal(t, m, s, hw.Env{Slots: 2 * spec.Ranks * (j % 2), Trace: i%3 == 0, Repetitions: 1 + i%2,
				Iterations: 1 + j%2, Timeout: 20 * time.Second}, r)
			played++
		}
	}
	t.Logf("%d played, %d refused", played, refused)
	require.Greater(t, played, 30)
	require.Positive(t, refused)
}

var _ = fmt.Sprint
