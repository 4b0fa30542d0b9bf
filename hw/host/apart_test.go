package host

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
)

// processes are the transports with a process for every rank.
func processes() []Transport { return []Transport{Unix, TCP} }

// TestProcesses: over sockets, too, everything gives the bits that it must.
func TestProcesses(t *testing.T) {
	t.Parallel()
	for turn, transport := range processes() {
		t.Run(transport.String(), func(t *testing.T) {
			t.Parallel()
			h := open(t, Config{Transport: transport})
			agreeOnScripts(t, h)
			for i, typ := range dtype.All() {
				if !tier.Long && i%2 != turn%2 {
					continue // in the short tier they take turns
				}
				agree(t, h, ringOf(t, 4, 1021, typ), hw.Env{Slots: 2})
			}
			r := agree(t, h, ringOf(t, 4, 4096, dtype.Float32),
				hw.Env{Warmup: 1, Repetitions: 5, Trace: true})
			checkTimeline(t, r)
			require.Positive(t, r.Skew)
			require.Equal(t, transport.String(), r.RanOn.Transport)
		})
	}
}

// TestWorkers: ranks that are started by hand, here in this very process so that the race detector
// sees both ends of every socket, are ranks like others.
func TestWorkers(t *testing.T) {
	t.Parallel()
	started, ended := 0, make(chan error, 64)
	h, err := New(Config{Transport: TCP, Listen: "127.0.0.1:0", Hosts: []string{"elsewhere"},
		Announce: func(ranks []Rendezvous) {
			started += len(ranks)
			for _, r := range ranks {
				go func() { ended <- Worker(context.Background(), r) }()
			}
		}})
	require.NoError(t, err)
	for _, s := range hwtest.Scripts(t) {
		if s.Spec.Ranks <= 4 {
			agree(t, h, s.Schedule, hw.Env{Iterations: 2, Slots: 8, Timeout: time.Minute})
		}
	}
	// Inputs are of ten frames, and messages of half a MiB.
	agree(t, h, ringOf(t, 5, 5<<17, dtype.Float32), hw.Env{Repetitions: 2})
	require.NoError(t, h.Close())
	for range started {
		require.NoError(t, <-ended)
	}
}
