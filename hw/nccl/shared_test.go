package nccl

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/internal/prose"
)

// TestShared: ranks in processes share GPUs of which there are fewer, as many a node as there are
// GPUs. NCCL executes what it executes on so many nodes.
func TestShared(t *testing.T) {
	standIn(t)
	file := filepath.Join(t.TempDir(), "schedules")
	t.Setenv("COLLSIM_STANDIN_SCHEDULES", file)
	for _, c := range []struct {
		gpus, ranks int
		machine     string
	}{{1, 3, "socket"}, {2, 6, "dgx-a100"}, {4, 4, "dgx-h100"}} {
		t.Setenv("COLLSIM_STANDIN_DEVICES", fmt.Sprint(c.gpus))
		d := New(Config{Apart: true})
		for _, spec := range calls(c.ranks, 1) {
			n := network{machine: c.machine, perNode: c.gpus, name: "auto"}
			byTables(t, file, spec, []network{n})
			s, choice := n.scheduleOf(t, spec)
			got := bitsOf(t, d, &hw.Job{Schedule: s, Inputs: inputsOf(&spec, 7)})
			require.Equal(t, choice.Way.String()+", "+prose.Plural(choice.Used, "channel"), got.Chose)
			require.InEpsilon(t, choice.Time*1e6, float64(got.Estimate), 1e-6)
			on := fmt.Sprintf("%d of stand-in device 0", c.gpus)
			if c.ranks > c.gpus {
				on += fmt.Sprintf(", shared by %d ranks", c.ranks)
			}
			require.Equal(t, "stand-in: not NCCL, CUDA 13.0, "+on, got.RanOn.Transport)
		}
		require.NoError(t, d.Close())
	}
}

// TestNodes: the ranks of a node are on one host, as far as NCCL is told.
func TestNodes(t *testing.T) {
	e := New(Config{Apart: true})
	e.devices = 2
	var hosts []string
	for worker := range 5 {
		host := ""
		for _, v := range e.processes().Environ(rank.Rendezvous{Worker: worker}) {
			if name, value, _ := strings.Cut(v, "="); name == "NCCL_HOSTID" {
				host = value
			}
		}
		hosts = append(hosts, host)
	}
	require.Equal(t, []string{"", "", "collsim-1", "collsim-1", "collsim-2"}, hosts)
}
