package symmetric

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLogStaysShort: what all ranks have heard of is forgotten, however long a program runs.
func TestLogStaysShort(t *testing.T) {
	var w World
	var all sync.WaitGroup
	errs, longest := make([]error, 2), make([]int, 2)
	for rank := range 2 {
		all.Go(func() {
			errs[rank] = func() error {
				m, err := w.Enable(context.Background(), "tp", []int{0, 1}, Self{Rank: rank})
				if err != nil {
					return err
				}
				for range 100 {
					b, err := m.Workspace(context.Background(), Use{Size: 8})
					if err != nil {
						return err
					}
					for range 3 { // the same again tells nothing new
						for at := range int64(4) {
							err = errors.Join(err, b.Put(1-rank, at, []byte{1}))
						}
					}
					err = errors.Join(err, b.Barrier(context.Background(), 0))
					m.group.mu.Lock()
					longest[rank] = max(longest[rank], len(b.store.log[0]), len(b.store.log[1]))
					m.group.mu.Unlock()
					if err != nil {
						return err
					}
				}
				return nil
			}()
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	require.LessOrEqual(t, max(longest[0], longest[1]), 8) // four of this call, four of the last
}

func TestListed(t *testing.T) {
	for want, ranks := range map[string][]int{"rank 3": {3}, "ranks 0, 1": {0, 1},
		"ranks 0…2": {0, 1, 2}, "ranks 1, 3, 5…7, 9": {1, 3, 5, 6, 7, 9}} {
		require.Equal(t, want, listed(ranks))
	}
}
