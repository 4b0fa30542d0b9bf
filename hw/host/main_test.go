package host

import (
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"testing"

	"collsim/hw/hwtest"
)

// TestMain lets the test's program be a rank, and checks that tests leave nothing.
func TestMain(m *testing.M) {
	if code, child := Child(); child {
		os.Exit(code)
	}
	if os.Getenv(orphanage) != "" {
		raiseOrphans()
		return
	}
	if words := strings.Fields(os.Getenv(relayed)); len(words) == 4 {
		if err := relayedWorker(words); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	hwtest.Together()
	more := remains()
	code := m.Run()
	if err := more(); err != nil {
		fmt.Println("FAIL: tests have left", err)
		pprof.Lookup("goroutine").WriteTo(os.Stdout, 1)
		code = 1
	}
	os.Exit(code)
}
