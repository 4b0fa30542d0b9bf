package parallel_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/parallel"
)

// TestEach: everything is done once, however many processors there are.
func TestEach(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(processors)
		for _, n := range []int{0, 1, 2, 31, 1000} {
			times := make([]int, n)
			parallel.Each(n, func() func(int) {
				return func(i int) { times[i]++ }
			})
			for i, x := range times {
				require.Equal(t, 1, x, "%d of %d on %d", i, n, processors)
			}
		}
	}
}

// TestEachPanics: a panic, of whatever worker, comes to the caller with its place.
func TestEachPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 8} {
		runtime.GOMAXPROCS(processors)
		for _, bad := range []int{0, 57, 99} {
			told := func() (told any) {
				defer func() { told = recover() }()
				parallel.Each(100, func() func(int) {
					return func(i int) {
						if i == bad {
							panic("it is bad")
						}
					}
				})
				return nil
			}()
			require.Regexp(t, `(?s)^it is bad\n.*parallel_test\.go`, told)
		}
	}
}
