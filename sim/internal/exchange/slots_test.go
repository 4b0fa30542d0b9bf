package exchange

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// TestSlots: slots are taken in the order in which they are free, unless one was never used; there
// are never more marks than there were messages in flight.
func TestSlots(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for range 300 {
		marks, all := NewMarks(1), int32(rng.IntN(5))
		s, unused, taken, most := NewSlots(all), all, 0, 0
		var freed []model.Moment
		for now := unit.Time(1); now < 200; now++ {
			at, known := s.Next(&marks)
			switch {
			case all == 0 || unused > 0:
				require.True(t, known && at == model.Moment{})
			case len(freed) == 0:
				require.False(t, known)
			default:
				require.True(t, known && at == freed[0])
			}
			if ended := now - unit.Time(rng.IntN(9)); known && rng.IntN(2) == 0 {
				s.Take(&marks, ended)
				switch taken++; {
				case all == 0:
				case unused > 0 && (len(freed) == 0 || freed[0].T >= ended):
					unused--
				default:
					freed = freed[1:]
				}
			} else if taken > 0 && all > 0 {
				mark := s.Free(&marks, model.Moment{T: now})
				require.Equal(t, now, marks.list[mark].at.T)
				freed = append(freed, model.Moment{T: now})
				taken--
			}
			most = max(most, taken)
			require.Equal(t, len(freed) == 0 || freed[len(freed)-1].T < now, s.AreFreeBefore(&marks, now))
		}
		if all > 0 {
			require.LessOrEqual(t, marks.Len(), most)
		}
		n := marks.Len()
		s.Forget(&marks)
		other := NewSlots(int32(n))
		for range n {
			other.Take(&marks, 0)
		}
		for range n {
			other.Free(&marks, model.Moment{})
		}
		require.Equal(t, n, marks.Len(), "marks that are given back are used again")
	}
}

// TestStalled: waits that close begin with the lowest lane, those that end with the first.
func TestStalled(t *testing.T) {
	for first, want := range map[int32][]int32{0: {1, 3, 2}, 3: {1, 3, 2}, 4: {4, 5}, 5: {5}} {
		on := []int32{2, 3, 1, 2, 5, -1}
		path, isCircle := Stalled(first, func(i int32) int32 { return on[i] })
		require.Equal(t, want, path)
		require.Equal(t, first < 4, isCircle)
	}
}

// TestIndex: each connection is made once, and one without a tag before those with one.
func TestIndex(t *testing.T) {
	x, made := NewIndex(), []int32{}
	find := func(src, dst, tag int32, class schedule.Class) int32 {
		return x.Find(src, dst, &schedule.Peer{Class: class, Tag: tag}, func(tag int32) int32 {
			made = append(made, tag)
			return int32(len(made) - 1)
		})
	}
	for range 2 {
		require.EqualValues(t, 1, find(0, 1, 7, schedule.FIFO))
		require.EqualValues(t, 0, find(0, 1, 0, schedule.FIFO))
		require.EqualValues(t, 2, find(0, 1, 8, schedule.FIFO))
		require.EqualValues(t, 3, find(1, 0, 0, schedule.FIFO))
	}
	require.Equal(t, []int32{0, 7, 8, 0}, made)
}
