package symmetric_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/comm/symmetric"
	"collsim/dtype"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// pulled is an all_gather from one workspace, which ends with a barrier or without.
func pulled(t *testing.T, ranks int, ends bool) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Build(schedule.Plan{Name: "pull", Scratch: 1,
		Group: schedule.Group{int32(ranks)},
		Spec:  collective.Spec{Kind: collective.AllGather, Type: dtype.Uint8, Ranks: ranks, Count: 4},
		Lane: func(l *schedule.Lane) {
			l.Copy(l.Scratch(0), l.In(0))
			l.Pads(0).Barrier()
			l.Copy(l.Out(l.Rank), l.In(0))
			for i := 1; i < l.Ranks; i++ {
				q := l.Rank + i
				l.Combine([]schedule.Region{l.Out(q)}, nil, l.Get(q, l.Scratch(0)))
			}
			if ends {
				l.Pads(l.Ranks % 2).Barrier()
			}
		}})
	require.NoError(t, err)
	return s
}

// TestAsASchedule: the same steps as a schedule and as goroutines. Over two calls in one workspace
// the proof and the clocks both find the race where the last barrier is missing, and none where it
// is not; the bytes are the same.
func TestAsASchedule(t *testing.T) {
	for ranks := 2; ranks <= 8; ranks++ {
		for _, ends := range []bool{false, true} {
			s := pulled(t, ranks, ends)
			_, found := proof.Verify(s, proof.Options{Iterations: 2})
			in := make([][]byte, ranks)
			for i := range in {
				in[i] = []byte{byte(i), 0, 7, byte(i)}
			}
			want, err := reference.RunBytes(s, in, reference.RunOptions{})
			require.NoError(t, err)

			errs := on(ranks, func(m *symmetric.Member) error {
				for range 2 {
					b, err := m.Workspace(background, symmetric.Use{Size: 4})
					if err != nil {
						return err
					}
					got, err := make([]byte, 4*ranks), b.Put(m.Rank, 0, in[m.Rank])
					err = errors.Join(err, b.Barrier(background, 0))
					for q := range ranks {
						err = errors.Join(err, b.Get(q, 0, got[4*q:4*q+4]))
					}
					if ends {
						err = errors.Join(err, b.Barrier(background, ranks%2))
					}
					if err != nil {
						return err
					}
					if string(got) != string(want[m.Rank]) {
						return errors.New("other bytes")
					}
				}
				return nil
			})
			var race *symmetric.Race
			require.Equal(t, !ends, errors.As(errors.Join(errs...), &race), "%d ranks: %v", ranks, errs)
			require.Equal(t, !ends, len(found) > 0, "%d ranks: %v", ranks, found)
			if ends {
				require.NoError(t, errors.Join(errs...))
			} else {
				require.Equal(t, schedule.Race, found[0].Kind)
				require.Contains(t, found[0].Text, "writes scratch")
			}
		}
	}
}
