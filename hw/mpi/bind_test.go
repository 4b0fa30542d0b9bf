//go:build linux && (amd64 || arm64) && !nohw

package mpi

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// TestOpenErrors: each of many goroutines, which change threads while they load libraries that are
// not there, is reported of its own.
func TestOpenErrors(t *testing.T) {
	many, times := 16, tier.Of(100, 2000)
	var done sync.WaitGroup
	wrong := make([]string, many)
	for g := range many {
		done.Go(func() {
			for i := range times {
				name := fmt.Sprintf("nowhere-%d-%d.so", g, i)
				_, err := open(name)
				if err == nil || !isAbout(err, name) {
					wrong[g] = fmt.Sprintf("%s: %v", name, err)
				}
				runtime.Gosched()
			}
		})
	}
	done.Wait()
	for _, text := range wrong {
		require.Empty(t, text)
	}
}

// isAbout reports whether an error names what it is of, first.
func isAbout(err error, name string) bool {
	return strings.HasPrefix(err.Error(), name+":")
}
