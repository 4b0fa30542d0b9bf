package lab

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"
	"time"

	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/hw/mpi"
	"collsim/schedule"
	"collsim/topology"
)

// ownerOfLab has this program own a lab, for a test that ends it.
const ownerOfLab = "COLLSIM_TEST_OWNER"

func TestMain(m *testing.M) {
	if code, child := Child(); child {
		os.Exit(code)
	}
	if code, child := mpi.Child(); child {
		os.Exit(code)
	}
	if os.Getenv(ownerOfLab) != "" {
		os.Exit(own(os.Getenv(ownerOfLab) == "mpi"))
	}
	hwtest.Together()
	os.Exit(m.Run())
}

// own has a lab execute something long, says so, and goes on until it is interrupted.
func own(byMPI bool) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	g, err := topology.Switch(2, 65_000, 0)
	if err != nil {
		return 3
	}
	l, err := Open(ctx, g)
	if err != nil {
		fmt.Println("not here:", err)
		return 4
	}
	defer l.Close()
	s, err := schedule.Build(longPlan())
	if err != nil {
		return 5
	}
	var d hw.Executor = l
	if byMPI {
		if d, err = l.MPI(mpi.Config{}); err != nil {
			return 7
		}
	}
	time.AfterFunc(100*time.Millisecond, func() { fmt.Println("runs") })
	in := hw.Memory(s.Len(schedule.Input, 0) * 4)
	if _, err := d.Run(ctx, &hw.Job{Schedule: s, Inputs: [][]byte{in, in}}); err == nil {
		return 6
	}
	return 0
}
