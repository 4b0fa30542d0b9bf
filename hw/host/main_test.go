package host

import (
	"os"
	"testing"
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
	os.Exit(m.Run())
}
