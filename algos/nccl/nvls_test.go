package nccl_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestSchedulesBySwitch: what each GPU does, on one node and on three, whose trees have a root, one
// node between and leaves.
func TestSchedulesBySwitch(t *testing.T) {
	text := ""
	for _, c := range []struct {
		spec   collective.Spec
		name   string
		params []string
	}{
		{allReduce(4, 40_000), "nccl:nvls", []string{"nchannels", "1"}},
		{blocks(collective.AllGather, 3, 10_000), "nccl:nvls", []string{"nchannels", "1"}},
		{blocks(collective.ReduceScatter, 3, 10_000), "nccl:nvls", []string{"nchannels", "1"}},
		{allReduce(6, 20_000), "nccl:nvlstree", []string{"per_node", "2", "nchannels", "2"}},
	} {
		text += build(t, c.spec, c.name, c.params...).String() + "\n"
	}
	golden(t, "testdata/nvls.txt", text)
}

// TestSwitchTuning: how many channels a call has, and how many bytes a chunk, by generation and
// nodes (transport/nvls.cc, enqueue.cc).
func TestSwitchTuning(t *testing.T) {
	for _, test := range []struct {
		ranks    int
		bytes    int64
		params   []string
		channels int
		loop     int64 // bytes of the first loop of a channel
	}{
		{8, 1 << 20, nil, 16, 64 << 10}, // a part of the vector is shorter than a chunk for each
		{8, 4 << 20, nil, 16, 8 * 16 << 10},
		{8, 8 << 20, nil, 16, 8 * 32 << 10},
		{8, 64 << 20, nil, 16, 8 * 64 << 10},
		{8, 1 << 30, nil, 16, 8 * 128 << 10},
		{4, 1 << 30, nil, 16, 4 * 128 << 10},
		{8, 1 << 30, []string{"nchannels", "4"}, 4, 8 * 128 << 10},
		{8, 3 << 30, []string{"machine", "dgx-b200"}, 24, 8 * 128 << 10},
		{16, 1 << 30, []string{"per_node", "8"}, 16, 8 * 128 << 10},
		{32, 1 << 30, []string{"per_node", "8"}, 16, 8 * 64 << 10},
		{16, 1 << 30, []string{"per_node", "8", "machine", "dgx-b200"}, 32, 8 * 64 << 10},
		{8, 1 << 30, []string{"per_node", "4", "machine", "dgx-b200"}, 32, 4 * 256 << 10},
		{32, 1 << 30, []string{"per_node", "8", "machine", "dgx-b200"}, 24, 8 * 64 << 10},
	} {
		name := "nccl:nvls"
		if test.params != nil && test.params[0] == "per_node" {
			name = "nccl:nvlstree"
		}
		p := planned(t, allReduce(test.ranks, test.bytes/4), name, test.params...)
		require.Equal(t, test.channels, p.Channels, "%+v", test)
		require.Equal(t, test.loop, 4*p.Cuts[schedule.Output][0].Ends[0][0], "%+v", test)
	}
}

// planned returns the plan of an algorithm, whose schedule would be large.
func planned(t *testing.T, spec collective.Spec, name string, params ...string) schedule.Plan {
	a, err := algos.FindIn(nccl.Table(), spec.Kind, name)
	require.NoError(t, err)
	p := schedule.Plan{Spec: spec}
	require.NoError(t, a.Plan(&p, func(param string) string {
		for i := 0; i < len(params); i += 2 {
			if params[i] == param {
				return params[i+1]
			}
		}
		return a.Param(param, algos.Options{})
	}))
	return p
}

// TestSwitchIsProven: of any number of nodes, GPUs, elements and channels, every input comes to
// every output once, nothing stalls and nothing races; floats are bounded at best, as nobody says
// in which order the switch adds; and links carry what the switch copies and adds up, in no less
// time than that takes, however they are shared.
func TestSwitchIsProven(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(1)
	p.MinSuccessfulTests = tier.Raced(3, 20, 300)
	laws := gopter.NewProperties(p)
	laws.Property("proven, computed and timed", prop.ForAll(
		func(nodes, perNode, channels, kind int, count int64) string {
			spec := blocks([]collective.Kind{collective.AllReduce, collective.AllGather,
				collective.ReduceScatter}[kind], nodes*perNode, count)
			name := "nccl:nvls"
			if nodes > 1 {
				spec, name = allReduce(nodes*perNode, count), "nccl:nvlstree"
			}
			spec.InPlace = count%2 == 0
			s, err := try(t, spec, name, "per_node", strconv.Itoa(perNode), "nchannels",
				strconv.Itoa(channels))
			if err != nil {
				return err.Error()
			}
			if _, violations := proof.Verify(s, proof.Options{}); len(violations) > 0 {
				return fmt.Sprint(violations[0])
			}
			want := reference.NumbersBounded
			if spec.Kind == collective.AllGather {
				want = reference.NumbersExact
			}
			r, err := reference.Check(s, reference.CheckOptions{})
			if err != nil || r.Numbers != want {
				return fmt.Sprint("numbers: ", r, err)
			}
			return carried(s, nodes, perNode)
		},
		gen.IntRange(1, 4), gen.IntRange(2, 5), gen.IntRange(1, 4), gen.IntRange(0, 2),
		gen.Int64Range(1, 20_000)))
	laws.TestingRun(t)
}

// carried says what is wrong with the bytes or the time of a run on nodes whose links have 1 GB/s;
// "" if nothing is. A load is carried up by every GPU of the node and down once, a store up once
// and down to every GPU.
func carried(s *schedule.Schedule, nodes, perNode int) string {
	node := topology.Params{Preset: "switch", Ranks: perNode, Bandwidth: unit.Rate(unit.GB),
		Multimem: true}
	network := topology.Params{Preset: "switch", Bandwidth: unit.Rate(unit.GB)}
	g, err := topology.Build(topology.Params{Nodes: nodes, Node: &node, Network: &network})
	if err != nil {
		return err.Error()
	}
	all := int64(s.Spec.Bytes())
	operations := int64(nodes)
	if s.Spec.Kind == collective.AllReduce {
		operations *= 2
	}
	between := 2 * int64(nodes-1) * all
	for _, sharing := range []sim.Sharing{sim.Fluid, sim.FIFO} {
		r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: 8},
			sim.Options{})
		if err != nil {
			return err.Error()
		}
		if want := operations*all + between; int64(r.BytesSent) != want {
			return fmt.Sprintf("%d bytes sent, not %d", r.BytesSent, want)
		}
		if want := operations * all * int64(perNode+1); nodes == 1 && int64(r.LinkBytes) != want {
			return fmt.Sprintf("%d bytes on links, not %d", r.LinkBytes, want)
		}
		least := unit.Time(all * 1000)
		if s.Spec.Kind == collective.AllReduce {
			least += unit.Time(all / int64(perNode) * 1000)
		}
		if r.Time < least {
			return fmt.Sprintf("%v, less than %v", r.Time, least)
		}
	}
	return ""
}

// TestNoSwitch: without a switch that multicasts there is no NVLS, asked for or not; and what else
// a switch does not do is said.
func TestNoSwitch(t *testing.T) {
	avg, int8s := allReduce(8, 10), allReduce(8, 10)
	avg.Op, int8s.Type = collective.Avg, dtype.Int8
	const needs = "it needs a switch that multicasts and reduces: topology.node.multimem = true, or " +
		"topology.multimem where there are no nodes"
	for _, test := range []struct {
		spec   collective.Spec
		name   string
		params []string
		want   string
	}{
		{allReduce(8, 1<<24), "nccl:nvls", []string{"nvls", "false"}, "all_reduce sum by NVLS Simple: " +
			needs},
		{allReduce(16, 1<<24), "nccl:nvlstree", []string{"per_node", "8", "nvls", "false"},
			"all_reduce sum by NVLSTree Simple: " + needs},
		{allReduce(8, 10), "nccl:nvlstree", nil,
			"all_reduce sum by NVLSTree Simple: on one node that is NVLS"},
		{allReduce(16, 10), "nccl:nvls", []string{"per_node", "8"}, "all_reduce sum by NVLS Simple: " +
			"over several nodes that is NVLSTree, and all_reduce alone"},
		{allReduce(4, 10), "nccl:nvlstree", []string{"per_node", "1"},
			"all_reduce sum by NVLSTree Simple: it needs 2 GPUs a node"},
		{allReduce(8, 10), "nccl:nvls", []string{"machine", "dgx-a100"},
			"all_reduce sum by NVLS Simple: machine=dgx-a100 has no such switch"},
		{blocks(collective.AllGather, 33, 10), "nccl:nvls", nil,
			"all_gather by NVLS Simple: a node has 32 GPUs at most"},
		{avg, "nccl:nvls", nil,
			"all_reduce avg by NVLS Simple: the switch does not reduce float32 by avg"},
		{int8s, "nccl:nvls", nil,
			"all_reduce sum by NVLS Simple: the switch does not reduce int8 by sum"},
	} {
		_, err := try(t, test.spec, test.name, test.params...)
		require.EqualError(t, err, ""+test.name+": NCCL does no "+test.want)
	}
	_, err := try(t, allReduce(8, 10), "nccl:nvls", "nvls", "often")
	require.EqualError(t, err, "nccl:nvls: nvls=often: true, false or switch is expected")
	a, err := algos.FindIn(nccl.Table(), collective.AllReduce, "nccl:auto")
	require.NoError(t, err)
	require.Contains(t, a.Picked(allReduce(8, 1<<24), algos.Options{}).What, "NVLS Simple, 16 of 16")
	for _, o := range []algos.Options{{NoMulticast: true},
		{Params: []algos.Param{{Name: "nvls", Value: "false"}}}} {
		require.Equal(t, "Ring Simple, 24 of 24 channels: 382.2 us by NCCL's model, next Ring LL128 "+
			"395.2 us", a.Picked(allReduce(8, 1<<24), o).String())
	}
}

// TestMoreGPUsThanHeads: of a node of more than 32 GPUs the first 32 are heads, and all have the
// result.
func TestMoreGPUsThanHeads(t *testing.T) {
	s := build(t, allReduce(34, 1<<18), "nccl:nvls", "nchannels", "1")
	_, violations := proof.Verify(s, proof.Options{})
	require.Empty(t, violations)
	require.Nil(t, s.Group)
	require.Equal(t, int64(32), s.Cuts[schedule.Input][1].N)
}
