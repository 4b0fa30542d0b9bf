package run

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/scenarios"
)

// TestProgramsMeanTheSame: with the passes that a file names, and with none, a program is proven,
// exact, and gives the same results. Each of the files, which say what was wrong, once was not, or
// ended in a panic; random programs have found them (internal/judge/programs).
func TestProgramsMeanTheSame(t *testing.T) {
	files, err := filepath.Glob("testdata/meaning/*.toml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var digests []string
			for _, plain := range []bool{false, true} {
				s, err := Load(file, nil, LoadOptions{})
				require.NoError(t, err)
				if plain {
					for _, p := range s.Programs {
						p.Lowering = scenarios.Lowering{}
					}
				}
				report, err := s.Run(context.Background(), RunOptions{})
				require.NoError(t, err)
				require.Len(t, report.Programs, 1)
				r := report.Programs[0]
				require.Equal(t, Proved, r.Proof, r.Violations)
				require.Equal(t, "exact", r.Numbers)
				require.Len(t, r.Digest, 64)
				digests = append(digests, r.Digest)
			}
			require.Equal(t, digests[1], digests[0])
		})
	}
}
