package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos/openmpi"
	"collsim/hw/mpi"
	"collsim/internal/tier"
	"collsim/run"
	"collsim/scenarios"
	"collsim/sim"
	"collsim/unit"
)

// recorded is a row of the tables of a report of validate.
type recorded struct {
	lab, executor, kind, algorithm, size string
	measured                             float64 // seconds
}

// readRecorded reads the tables of all cases.
func readRecorded(t *testing.T, file string) (list []recorded) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var lab, executor string
	for line := range strings.Lines(string(text)) {
		if head, ok := strings.CutPrefix(strings.TrimSpace(line), "### lab, "); ok {
			lab, executor, _ = strings.Cut(head, ", ")
		}
		cells := strings.Split(line, "|")
		if lab == "" || len(cells) != 10 || !strings.Contains(cells[5], "±") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		algorithm, _, _ := strings.Cut(cells[2], ", hardware")
		r := recorded{lab, executor, cells[1], algorithm, cells[3], 0}
		_, err := fmt.Sscan(cells[5], &r.measured)
		require.NoError(t, err, line)
		if strings.HasSuffix(cells[5], " ms") {
			r.measured /= 1000
		}
		list = append(list, r)
	}
	return list
}

// recording is a report of labs, what was calibrated in them, and what of docs/lab was otherwise.
type recording struct {
	report, figures string
	set             []string
	loaded          map[string]*run.Scenario // by labs
}

// recordings are those of docs, and the first ones: of another machine, with faster wires, made
// before the simulator knew of send buffers and rendezvous.
func recordings() []recording {
	const docs, first = "../../docs/", "testdata/recorded/"
	bytes := `collective.bytes=["1 MiB", "4 MiB", "16 MiB"]`
	return []recording{
		{docs + "fidelity.md", docs + "lab/calibrated.toml", nil, map[string]*run.Scenario{}},
		{docs + "fresh.md", docs + "lab/calibrated.toml", nil, map[string]*run.Scenario{}},
		{first + "fidelity.md", first + "calibrated.toml", []string{bytes,
			`topology.bandwidth="100 Mbit/s"`, `device.send_buffer="125 kB"`},
			map[string]*run.Scenario{}},
		{first + "fresh.md", first + "calibrated.toml", []string{
			`topology.bandwidth="60 Mbit/s"`, `device.send_buffer="75 kB"`},
			map[string]*run.Scenario{}},
	}
}

// pointsOf are the points of a lab's scenario, with the figures that were calibrated.
func (r *recording) pointsOf(t *testing.T, lab string) (*run.Scenario, []*scenarios.Point) {
	t.Helper()
	if s := r.loaded[lab]; s != nil {
		return s, s.Points
	}
	figures, err := os.ReadFile(r.figures)
	require.NoError(t, err)
	s, err := run.Load("../../docs/lab/"+lab+".toml", nil, run.LoadOptions{
		With: []scenarios.With{{Name: "calibrated.toml", Text: figures}}, Set: r.set})
	require.NoError(t, err)
	r.loaded[lab] = s
	return s, s.Points
}

// simulate is the time of a recorded case, in seconds: of our schedule, or of the library's. With
// plain, nobody runs ahead and nobody asks.
func (of *recording) simulate(t *testing.T, r *recorded, plain bool) float64 {
	t.Helper()
	name, library := r.lab, strings.HasPrefix(r.executor, "mpi")
	if library {
		name += "-mpi"
	}
	scenario, points := of.pointsOf(t, name)
	at := slices.IndexFunc(points, func(p *scenarios.Point) bool {
		return p.Spec.Kind.String() == r.kind && p.Algorithm.String() == r.algorithm &&
			p.Spec.Bytes().String() == r.size
	})
	require.GreaterOrEqual(t, at, 0, "%+v", r)
	p := points[at]
	s, err := scenario.Build(p)
	require.NoError(t, err)
	g, err := p.Topology.Graph()
	require.NoError(t, err)
	env := sim.Env{Graph: g, Device: *p.Device, Slots: p.Sim.Slots}
	if library {
		choice, err := mpi.Counterpart(s)
		require.NoError(t, err)
		s, err = openmpi.Build(choice, p.Spec)
		require.NoError(t, err)
		env.Slots = 0
	}
	if plain {
		env.Device.SendBuffer, env.Device.EagerLimit = 0, 0
	}
	result, err := sim.Run(s, env, sim.Options{})
	require.NoError(t, err, "%+v", r)
	return float64(result.Time) / float64(unit.Second)
}

// TestRecorded: the times that labs have measured are predicted with what was read of their sockets
// and of Open MPI. It tells how well, in the long tier also how well without, and holds it to what
// the labs are to keep.
func TestRecorded(t *testing.T) {
	for _, of := range recordings() {
		list := readRecorded(t, of.report)
		require.NotEmpty(t, list)
		for _, plain := range tier.Of([]bool{false}, []bool{true, false}) {
			var errors []float64
			for i := range list {
				r := &list[i]
				off := of.simulate(t, r, plain)/r.measured - 1
				if math.Abs(off) > 0.05 && !plain {
					t.Logf("%+.1f %% %+v", 100*off, *r)
				}
				errors = append(errors, math.Abs(off))
			}
			slices.Sort(errors)
			n := len(errors)
			median, p90 := (errors[(n-1)/2]+errors[n/2])/2, errors[(9*n+9)/10-1]
			t.Logf("%s, %d cases, plain %v: median %.1f %%, 90th percentile %.1f %%, worst %.1f %%",
				of.report, n, plain, 100*median, 100*p90, 100*errors[n-1])
			if !plain {
				require.Less(t, median, 0.05)
				require.Less(t, p90, 0.12)
			}
		}
	}
}
