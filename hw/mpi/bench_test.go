package mpi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/hw"
)

// BenchmarkMessage is the time of a message, half of a ring all-reduce on two ranks: of few bytes
// and of many, by our steps and by the library's own ring.
func BenchmarkMessage(b *testing.B) {
	for _, size := range []struct {
		name  string
		count int64
	}{{"8B", 4}, {"1MiB", 1 << 19}} {
		spec := specsOf(collective.AllReduce, 2)
		spec.Count = size.count
		in := sensitive(&spec, 1)
		a, err := algos.Find(spec.Kind, "ring")
		require.NoError(b, err)
		s, err := a.Build(spec, algos.Options{})
		require.NoError(b, err)
		d := New(Config{})
		d.start(b, 2)
		defer d.Close()
		report := func(b *testing.B, r *hw.Result, err error) {
			require.NoError(b, err)
			median, _ := r.Median()
			b.ReportMetric(float64(median)/1000/2/float64(b.N), "ns/message")
		}
		b.Run("schedule/"+size.name, func(b *testing.B) {
			r, err := d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in,
				Env: hw.Env{Repetitions: 3, Iterations: b.N}})
			report(b, r, err)
		})
		b.Run("library/"+size.name, func(b *testing.B) {
			r, err := d.Perform(context.Background(), &Call{Spec: spec, Inputs: in,
				Choice: openmpi.Choice{Function: "allreduce", Algorithm: "ring"},
				Env:    hw.Env{Repetitions: 3, Iterations: b.N}})
			report(b, r, err)
		})
	}
}
