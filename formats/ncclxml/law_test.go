package ncclxml

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/machine"
)

// TestWriteReadsBack: the file of every machine of the catalogue is read back as the same network
// (Write compares them), as NCCL counts no more than 16 attributes of an element.
func TestWriteReadsBack(t *testing.T) {
	for _, m := range machine.Catalogue() {
		t.Run(m.Name, func(t *testing.T) {
			text, err := Write(m)
			require.NoError(t, err)
			back, err := Read(m.Name, text, "")
			require.NoError(t, err)
			require.Empty(t, differs(m, back))
			again, err := Write(back)
			require.NoError(t, err)
			require.NotEmpty(t, again)
			root, err := parse(m.Name, text)
			require.NoError(t, err)
			require.LessOrEqual(t, attributes(root), 16)
		})
	}
}

// attributes is the most that an element has.
func attributes(e *element) int {
	most := len(e.at)
	for _, k := range e.kids {
		most = max(most, attributes(k))
	}
	return most
}
