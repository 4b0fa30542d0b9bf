package host

import (
	"os"
	"testing"

	"collsim/hw/hwtest"
)

// TestMain lets the test's program be a rank.
func TestMain(m *testing.M) {
	if code, child := Child(); child {
		os.Exit(code)
	}
	if os.Getenv(orphanage) != "" {
		raiseOrphans()
		return
	}
	hwtest.Together()
	os.Exit(m.Run())
}
