package random

import (
	"os"
	"testing"

	"collsim/internal/tier"
)

// TestMain is tier.Main.
func TestMain(m *testing.M) { os.Exit(tier.Main(m)) }
