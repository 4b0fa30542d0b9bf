package rank

import (
	"os"
	"testing"

	"collsim/hw/hwtest"
)

// TestMain has more tests run at once than there are processors: they mostly wait.
func TestMain(m *testing.M) {
	hwtest.Together()
	os.Exit(m.Run())
}
