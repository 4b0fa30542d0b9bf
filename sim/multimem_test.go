package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/proof"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// adding is a network whose switches multicast and reduce.
func adding(env Env) Env {
	for i := range env.Graph.Nodes() {
		n := &env.Graph.Nodes()[i]
		n.Multicast, n.Reduce = n.Switch, n.Switch
	}
	return env
}

// spokes is four ranks' links of 1 GB/s and 100 ns to a switch and back, but for what is said.
func spokes(t testing.TB, but ...string) Env {
	t.Helper()
	var lines []string
	for _, gpu := range []string{"gpu0", "gpu1", "gpu2", "gpu3"} {
		for _, ends := range []string{gpu + "->switch", "switch->" + gpu} {
			line := ends
			for _, b := range but {
				if strings.HasPrefix(b, ends) {
					line = b
				}
			}
			lines = append(lines, line)
		}
	}
	return adding(wires(t, lines...))
}

const loadAll = `
rank 0
  lane 0
    reduce multimem{0,1,2,3} in[0 x10] into out[0 x10] @0`

// TestMultimemLoadShares: rank 1 sends 1000 bytes to rank 2 meanwhile, as in TestGet.
//
//	fifo    the link up from rank 1 is busy until 1000: its data are at the switch at 1100, the link
//	        down carries 1100 … 2100: 2200. Waited for: the send, on the way up.
//	fluid   the send has 800 left at 200, when the load begins: 0.5 GB/s each, so it is drained at
//	        1800. The load has 200 left: 2000, there at 2200.
func TestMultimemLoadShares(t *testing.T) {
	s := written(t, 4, loadAll+`
rank 1
  lane 0
    send in[0 x10] to 2 @0
rank 2
  lane 0
    recv from 1 into out[0 x10] @0`)
	check(t, s, spokes(t), want{
		fluid: []float64{2200, 1800, 2000}, fifo: []float64{2200, 1000, 1200},
	})
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env := spokes(t)
		env.Sharing = sharing
		r, err := Run(s, env, Options{Critical: true})
		require.NoError(t, err)
		lost := unit.Time(0)
		for _, p := range r.Critical {
			if p.What == Contention {
				require.Equal(t, "gpu1->switch", env.Graph.Links()[p.Link].Name)
				lost += p.To - p.From
			}
		}
		require.Equal(t, 800*ns, lost)
	}
}

// TestMultimemStore: rank 0 stores 1000 bytes at ranks 0 to 3, then signals rank 1.
//
//	all alike   the bytes have left at 1000. The signal is at the switch at 1100, when the link down
//	            has carried them: 1200. Stored, that begins at 1100 and ends at 2100: 2200.
//	rank 2 receives at 0.5 GB/s: the lane is held until 2000, so the signal comes at 2200, however
func TestMultimemStore(t *testing.T) {
	s := written(t, 4, `
rank 0
  lane 0
    put in[0 x10] to multimem{0,1,2,3} at out[0 x10] @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0`)
	check(t, s, spokes(t), want{
		fluid: []float64{1000, 1200}, fifo: []float64{1000, 1200}, stored: []float64{1000, 2200},
	})
	check(t, s, spokes(t, "switch->gpu2 0.5 GB/s, 100 ns"), want{
		fluid: []float64{2000, 2200}, fifo: []float64{2000, 2200}, stored: []float64{2000, 2200},
	})
	r, err := Run(s, spokes(t), Options{})
	require.NoError(t, err)
	require.Equal(t, int64(1), r.Messages)
	require.Equal(t, unit.Bytes(1000), r.BytesSent)
	require.Equal(t, unit.Bytes(5000), r.LinkBytes, "1 up, 4 down")
}

// TestMultimemEfficiency: where half of what multimem puts on links is data, a load and a store of
// 1000 bytes put 2000 on each; efficiency, the figure of other messages, makes no difference to
// them.
//
//	load    200 for the request, 2000 and 200 for the data; stored, 2100 up and 2100 down
//	store   it has left at 2000; the signal behind it is there at 2200, stored at 2100 + 2100
func TestMultimemEfficiency(t *testing.T) {
	env := spokes(t)
	env.Device.MultimemEfficiency, env.Device.Own.Efficiency = 500_000, 250_000
	load := written(t, 4, loadAll)
	check(t, load, env, want{fluid: []float64{2400}, fifo: []float64{2400}, stored: []float64{4400}})
	check(t, written(t, 4, `
rank 0
  lane 0
    put in[0 x10] to multimem{1,2,3} at out[0 x10] @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0`), env, want{
		fluid: []float64{2000, 2200}, fifo: []float64{2000, 2200}, stored: []float64{2000, 4200},
	})
	r, err := Run(load, env, Options{})
	require.NoError(t, err)
	require.Equal(t, unit.Bytes(1000), r.BytesSent)
	require.Equal(t, unit.Bytes(10_000), r.LinkBytes)
}

// TestMultimemStorePosts: on a device that offloads the store is handed over at 0 and the signal
// stands behind it.
func TestMultimemStorePosts(t *testing.T) {
	s := written(t, 4, `
rank 0
  lane 0
    put in[0 x10] to multimem{1,2,3} at out[0 x10] @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0`)
	env := spokes(t)
	env.Device.Offload, env.Device.Queue = true, 2
	check(t, s, env, want{
		fluid: []float64{0, 1200}, fifo: []float64{0, 1200}, stored: []float64{0, 2200},
	})
}

// TestTwoShot: each of four ranks loads 1000 bytes, added up, stores them everywhere, and tells the
// next rank. Each link up carries 4 loads and 1 store, each link down 1 load and 4 stores.
//
//	fluid  every load shares 4 links up, 0.25 GB/s: 200 + 4000 + 200 = 4400. Every store shares 4
//	       links down: 8400. The signal is there at 8600.
//	fifo   requests come to a rank in the order of the switch's ports, so load r has its turn at all
//	       links up at once: 200 + 1000·r, and its sum at 1400 + 1000·r. The links up are free for
//	       the stores at 4200; these have left at 5200. At each link down 4 stores ask at 4300, and
//	       the signal at 5300, behind them: 8300, there at 8400.
func TestTwoShot(t *testing.T) {
	s := written(t, 4, `group 4
rank *
  lane 0
    reduceSend multimem{0,1,2,3} in[0 x10] to multimem{0,1,2,3} at out[0 x10] @0
    signal to 1 @0
    wait from 3 @0`)
	fluid, fifo := []float64{8600, 8600, 8600, 8600}, []float64{8400, 8400, 8400, 8400}
	check(t, s, spokes(t), want{fluid: fluid, fifo: fifo})
}

// TestMultimemNeedsASwitch: the error names the rank, its step, and what is missing.
func TestMultimemNeedsASwitch(t *testing.T) {
	s := written(t, 4, loadAll)
	cluster := func() Env {
		node := topology.Params{Preset: "switch", Ranks: 2, Bandwidth: gbs, Multimem: true}
		network := topology.Params{Preset: "switch", Bandwidth: gbs}
		g, err := topology.Build(topology.Params{Nodes: 2, Node: &node, Network: &network})
		require.NoError(t, err)
		env := simtest.OnSwitch(t, 4, gbs, 0)
		env.Graph = g
		return env
	}
	half := spokes(t)
	half.Graph.Nodes()[4].Reduce = false
	for _, tt := range []struct {
		env  Env
		what string
	}{
		{meshOf(t, 4), "gpu0 hangs on no switch"},
		{simtest.OnSwitch(t, 4, gbs, 0), "switch does not declare multicast"},
		{half, "switch does not declare reduce"},
		{cluster(), "node1/gpu0 does not hang on node0/switch, as node0/gpu0 does"},
	} {
		for _, sharing := range []Sharing{Fluid, FIFO} {
			tt.env.Sharing = sharing
			_, err := Run(s, tt.env, Options{})
			require.EqualError(t, err,
				"rank 0 lane 0 step 0: multimem needs a switch that does it: "+tt.what)
		}
	}
	_, err := Run(written(t, 4, `
rank 3
  lane 0
    put in[0 x10] to multimem{0,1} at out[0 x10] @0`), cluster(), Options{})
	require.ErrorContains(t, err, "rank 3 lane 0 step 0: multimem needs a switch")
}

// TestMultimemAllocations: what a run allocates does not depend on how many operations it
// simulates.
func TestMultimemAllocations(t *testing.T) {
	for _, m := range modes {
		allocations := func(loops string) float64 {
			text := ""
			for rank := range 4 {
				text += fmt.Sprintf(`
rank %d
  lane 0
    loop %s
      reduceSend multimem{0,1,2,3} in[0] to multimem{0,1,2,3} at out[0] @0
      put in[0] to %d at out[0] silent @0
      compute 1000ps @0`, rank, loops, (rank+1)%4)
			}
			s := written(t, 4, text)
			env := spokes(t)
			env.Sharing, env.Switching = m.sharing, m.switching
			return testing.AllocsPerRun(5, func() {
				_, err := Run(s, env, Options{})
				require.NoError(t, err)
			})
		}
		few, many := allocations("10"), allocations("200")
		t.Logf("%s: %v allocations, %v with 20 times the operations", m.name, few, many)
		require.InDelta(t, few, many, 30)
	}
}

// TestBytesSentAgree: the simulator and the proof count what is sent alike, whatever the way.
func TestBytesSentAgree(t *testing.T) {
	for _, step := range []string{"reduce multimem{0,1,2,3} in into out",
		"put in to multimem{0,1,2,3} at out", "put in to multimem{1,2} at out packet",
		"reduceSend multimem{1,3} in to multimem{0,1,2,3} at out",
		"reduceSend multimem{1,2,3} in to multimem{1,2,3} at out fused",
		"put in to 1 at out silent", "put in to 1 at out silent packet", "copy get 3 in into out",
		"send in to 1, 2"} {
		text := "schedule\ncollective custom int32 sum\nranks 4\nsplits 9 9 9 9\nsplits 9 9 9 9\n" +
			"rank 0\n  lane 0\n    wait from 1 @0\n    wait from 2 @0\n    wait from 3 @0\n    " + step +
			" @0\n    signal to 1 @0\n    signal to 2 @0\n    signal to 3 @0\n"
		for rank := 1; rank < 4; rank++ {
			text += fmt.Sprintf("rank %d\n  lane 0\n    signal to 0 @0\n", rank)
			if strings.HasPrefix(step, "send") && rank < 3 {
				text += "    recv from 0 into out @0\n"
			}
			text += "    wait from 0 @0\n"
		}
		s, err := schedule.Parse(text)
		require.NoError(t, err)
		p, found := proof.Verify(s, proof.Options{Iterations: 1})
		require.Empty(t, found, step)
		r, err := Run(s, spokes(t), Options{})
		require.NoError(t, err)
		require.Equal(t, unit.Bytes(p.BytesSent), r.BytesSent, step)
	}
}
