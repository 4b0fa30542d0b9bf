package measured

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/samples"
)

// TestPublishedTables counts what is read of published tables: every row of those of nccl-tests and
// of MPI, and none of files without times.
func TestPublishedTables(t *testing.T) {
	samples.Each(t, "nccl-data", func(t *testing.T, s samples.Set) {
		type count struct{ files, rows, noted, refused int }
		var got count
		require.NoError(t, filepath.WalkDir(s.Dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".csv" {
				return err
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			got.files++
			d, err := Read(filepath.Base(path), text)
			if err != nil {
				require.Contains(t, err.Error(), "there is no column", path)
				got.refused++
				return nil
			}
			got.rows += len(d.Rows)
			if len(d.Notes) > 0 {
				got.noted++
				require.Contains(t, d.Notes[0].Text, "columns that are not known are left out", path)
			}
			if strings.HasPrefix(string(text), "collective,size_bytes,") {
				require.Empty(t, d.Notes, path)
			}
			return nil
		}))
		require.Equal(t, samples.Of(s, count{15, 696, 0, 1}, count{185, 10044, 1, 7}), got)
	})
}
