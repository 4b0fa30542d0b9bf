package run_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/fidelity"
	"collsim/hw"
	"collsim/hw/host"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// stub executes on goroutines, reports times of its own, and may change the results.
type stub struct {
	hw.Executor
	change func(job *hw.Job, r *hw.Result) (*hw.Result, error)
}

func (s *stub) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	r, err := s.Executor.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	r.Repetitions = nil
	for _, us := range []unit.Time{12, 9, 10} {
		r.Repetitions = append(r.Repetitions, hw.Repetition{Time: us * unit.Microsecond})
	}
	r.RanOn = hw.RanOn{Executor: "host", Transport: "goroutines", CPU: "a test's", Cores: 2,
		OS: "any", Go: "go1"}
	if s.change == nil {
		return r, nil
	}
	return s.change(job, r)
}

// validated executes a scenario on a stub.
func validated(t *testing.T, text string, change func(*hw.Job, *hw.Result) (*hw.Result, error),
	set ...string) *run.Report {
	t.Helper()
	s, err := run.Load("s.toml", []byte(text), run.LoadOptions{Set: set})
	require.NoError(t, err)
	opened := 0
	r, err := s.Validate(context.Background(), run.ValidateOptions{
		Open: func(context.Context, *scenarios.Hardware, *topology.Graph) (hw.Executor, error) {
			opened++
			h, err := host.New(host.Config{})
			return &stub{h, change}, err
		}})
	require.NoError(t, err)
	require.LessOrEqual(t, opened, 1, "points of the same hardware share it")
	return r
}

// four is a scenario of four points.
const four = `name = "four"
[topology]
preset = "full-mesh"
ranks = 4
bandwidth = "1 GB/s"
latency = "1 us"
[collective]
kind = "all_reduce"
algorithm = ["ring", "recursive-doubling"]
bytes = ["1 KiB", "2 KiB"]
dtype = "bfloat16"
`

// TestValidate: bits are those of the schedule, times are medians, errors are relative to what was
// measured.
func TestValidate(t *testing.T) {
	r := validated(t, four, nil)
	require.True(t, r.Good())
	require.Len(t, r.Results, 4)
	for _, result := range r.Results {
		m := result.Measured
		require.Equal(t, fidelity.Equal, m.Bits)
		require.Equal(t, 10*unit.Microsecond, m.Time)
		require.Equal(t, 9*unit.Microsecond, m.Fastest)
		require.Equal(t, 3, m.Repetitions)
		require.Equal(t, (float64(result.Time)-1e7)/1e7, m.Error)
		require.Equal(t, result.Point.Spec.Count*4, m.Comparison.Elements)
	}
	// Ring: 6 rounds of 1 us + 256 B / 1 GB/s = 7.536 us.
	require.InDelta(t, -0.2464, r.Results[0].Measured.Error, 1e-12)
	text, err := report.JSON(r)
	require.NoError(t, err)
	var back struct {
		Results []struct {
			HW map[string]any `json:"hw"`
		}
		Fidelity struct {
			Algorithms []map[string]any
			All        map[string]any
			Misses     []string
		}
	}
	require.NoError(t, json.Unmarshal(text, &back))
	hw := back.Results[0].HW
	require.Equal(t, "host", hw["executor"])
	require.Equal(t, "equal", hw["bits"])
	require.Equal(t, 1e7, hw["time_ps"])
	require.Equal(t, 1.5e6, hw["time_spread_ps"]) // quartiles: 9.5 and 11 us
	require.Equal(t, 3.0, hw["repetitions"])
	require.InDelta(t, -0.2464, hw["error"], 1e-12)
	require.Equal(t, "goroutines", hw["ran_on"].(map[string]any)["transport"])
	require.Len(t, back.Fidelity.Algorithms, 2)
	require.Equal(t, "ring", back.Fidelity.Algorithms[0]["algorithm"])
	require.Equal(t, 4.0, back.Fidelity.All["bits_equal"])
	require.InDelta(t, 0.2464, back.Fidelity.Algorithms[0]["error_p90"], 1e-12)
}

// Data, tensors, teams and kinds whose outputs differ from rank to rank are executed and compared.
func TestValidateAll(t *testing.T) {
	for name, set := range map[string][]string{
		"normal data":   {`check.data="normal"`},
		"a root":        {`collective.kind="reduce"`, `collective.algorithm="binomial"`},
		"blocks":        {`collective.kind="reduce_scatter"`, `collective.algorithm="ring"`},
		"teams":         {"collective.teams=[[3, 1], [0, 2]]"},
		"in place":      {"collective.in_place=true"},
		"a tensor":      {"collective.shape=[8, 6]"},
		"mean":          {`collective.op="avg"`},
		"mean of teams": {`collective.op="avg"`, "collective.teams=[[3, 1], [0, 2]]"},
		"slots":         {"sim.slots=2"},
		"premulsum":     {`collective.op="premulsum(factor=0.5)"`},
		"two channels":  {"collective.channels=2"},
	} {
		t.Run(name, func(t *testing.T) {
			r := validated(t, four, nil, set...)
			require.True(t, r.Good())
			for _, result := range r.Results {
				require.Equal(t, fidelity.Equal, result.Measured.Bits, result.Point.ID)
			}
		})
	}
}

// TestValidateDiffers: one bit of one element is found, with the order that it should have come of.
func TestValidateDiffers(t *testing.T) {
	flip := func(job *hw.Job, r *hw.Result) (*hw.Result, error) {
		if job.Schedule.Spec.Count == 512 {
			r.Outputs[2][14] ^= 1
		}
		return r, nil
	}
	r := validated(t, four, flip, `hardware.tolerance.time_median="50 %"`)
	require.False(t, r.Good())
	require.Len(t, r.Misses, 1)
	m := r.Results[0].Measured
	require.Equal(t, fidelity.Differ, m.Bits)
	require.Equal(t, int64(1), m.Comparison.Different)
	require.Equal(t, 2, m.Comparison.First.Rank)
	require.Equal(t, int64(7), m.Comparison.First.Element)
	require.Equal(t, "((r0 + r1) + r2) + r3", reordered(m.Comparison.First.Order))
	require.Contains(t, report.ValidationText(r), "the hardware has")

	r = validated(t, four, flip, `hardware.tolerance.bits="any"`)
	require.True(t, r.Good())
}

// reordered is the order of a ring with its ranks turned so that 0 begins.
func reordered(order string) string {
	text := []byte(order)
	first := byte(0)
	for i, c := range text {
		if c < '0' || c > '9' {
			continue
		}
		if first == 0 {
			first = c
		}
		text[i] = '0' + (c-first+4)%4
	}
	return string(text)
}

// TestValidateFails: an executor's error is a result like others; a refusal is no failure.
func TestValidateFails(t *testing.T) {
	lost := &hw.Error{Call: "read", Code: "EOF", Rank: 3, Lane: -1, Step: -1, Text: "it is lost"}
	r := validated(t, four, func(job *hw.Job, r *hw.Result) (*hw.Result, error) {
		if job.Schedule.Spec.Count == 512 {
			return nil, lost
		}
		return r, nil
	})
	require.False(t, r.Good())
	require.Len(t, r.Results, 4)
	require.Equal(t, lost, r.Results[0].Measured.Failure)
	require.True(t, r.Results[1].Measured.Executed())
	require.Contains(t, report.ValidationText(r), "FAILED: all_reduce/ring/1024: rank 3: read: EOF")

	r = validated(t, four, func(job *hw.Job, r *hw.Result) (*hw.Result, error) {
		return nil, hw.Refuse("it has no way to")
	})
	require.True(t, r.Good())
	require.Equal(t, "it has no way to", r.Results[0].Measured.Skipped)
	require.Empty(t, r.Cases())

	r = validated(t, four, nil, "hardware.ranks=3")
	require.Equal(t, "4 ranks: the hardware has 3", r.Results[0].Measured.Skipped)
}

// TestValidatePlayed: where something else was executed, its time and its bits are predicted.
func TestValidatePlayed(t *testing.T) {
	s, err := run.Load("s.toml", []byte(four), run.LoadOptions{
		Only: []string{"algorithm=recursive-doubling,bytes=1024"}})
	require.NoError(t, err)
	other, err := s.Build(s.Points[0])
	require.NoError(t, err)
	h, err := host.New(host.Config{})
	require.NoError(t, err)
	defer h.Close()
	r := validated(t, four, func(job *hw.Job, r *hw.Result) (*hw.Result, error) {
		if job.Schedule.Spec.Count != 512 || job.Schedule.Name == other.Name {
			return r, nil
		}
		done, err := h.Run(context.Background(), &hw.Job{Schedule: other, Inputs: job.Inputs})
		if err == nil {
			r.Outputs, r.Executed = done.Outputs, other
		}
		return r, err
	})
	require.True(t, r.Good())
	require.Equal(t, r.Results[2].Time, r.Results[0].Time)
	require.NotEqual(t, r.Results[1].Time, r.Results[3].Time)
	require.Equal(t, other.Name, r.Results[0].Measured.Algorithm)
	require.Empty(t, r.Results[2].Measured.Algorithm)
}

// TestValidateTolerance: an error outside of the tolerance, and its reason where one is known.
func TestValidateTolerance(t *testing.T) {
	r := validated(t, four+`[hardware]
tolerance = { time_median = "30 %", time_p90 = "40 %" }
known = [{ match = "*/recursive-doubling/*", why = "because" }]
`, nil)
	require.False(t, r.Good())
	require.Len(t, r.Misses, 2)
	cases := r.Cases()
	require.Equal(t, []string{"", "", "because", "because"},
		[]string{cases[0].Why, cases[1].Why, cases[2].Why, cases[3].Why})
	text := report.ValidationText(r)
	require.Contains(t, text, "because")
	require.Contains(t, text, "time_p90 = 40 %")
}

// A context that ends leaves what is finished.
func TestValidateInterrupted(t *testing.T) {
	s, err := run.Load("s.toml", []byte(four), run.LoadOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	o := run.ValidateOptions{
		Open: func(context.Context, *scenarios.Hardware, *topology.Graph) (hw.Executor, error) {
			return host.New(host.Config{})
		}}
	o.Done = func(*run.Result) { cancel() }
	r, err := s.Validate(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, r.Results, 1)
}

// What hardware does not do is said.
func TestValidateCaveats(t *testing.T) {
	r := validated(t, four+"[[topology.rank]]\nmatch = \"2\"\nstart = \"3 us\"\n", nil,
		`collective.accumulate="float32"`, `collective.gradient="full"`)
	require.Len(t, r.Warnings, 2*8) // of each pass of four points
	for _, result := range r.Results {
		require.Equal(t, fidelity.Equal, result.Measured.Bits)
	}
}

// TestShortLab: the lab of short messages is the star, but that what fits a send buffer queues.
func TestShortLab(t *testing.T) {
	s, err := run.Load("../docs/lab/short.toml", nil, run.LoadOptions{})
	require.NoError(t, err)
	require.Len(t, s.Points, 18)
	star, err := run.Load("../docs/lab/star.toml", nil, run.LoadOptions{})
	require.NoError(t, err)
	for _, p := range s.Points {
		require.Equal(t, scenarios.FIFO, p.Sim.Sharing)
		require.Equal(t, p.Device.SendBuffer, p.Sim.Segment)
		require.Equal(t, star.Points[0].Device, p.Device)
		require.Equal(t, star.Points[0].Topology.Ranks, p.Topology.Ranks)
	}
}

// TestLabs: the labs of the documentation can be read, with what was measured in one of them, and
// simulated, as far as rendezvous has not both sides of an exchange wait.
func TestLabs(t *testing.T) {
	figures, err := os.ReadFile("../docs/lab/calibrated.toml")
	require.NoError(t, err)
	for name, points := range map[string]int{"star": 18, "racks": 18, "slow-link": 18, "fresh": 16} {
		for _, executor := range []scenarios.Executor{scenarios.Host, scenarios.MPI} {
			file := name + ".toml"
			if executor == scenarios.MPI {
				file = name + "-mpi.toml"
			}
			s, err := run.Load("../docs/lab/"+file, nil, run.LoadOptions{
				Set:  []string{"check.numbers=false", "check.proof=false"},
				With: []scenarios.With{{Name: "calibrated.toml", Text: figures}}})
			require.NoError(t, err)
			require.Len(t, s.Points, points)
			for _, p := range s.Points {
				require.Equal(t, scenarios.Lab, p.Hardware.Network)
				require.Equal(t, executor, p.Hardware.Executor)
				require.Equal(t, executor == scenarios.MPI, p.Hardware.Library)
				require.Equal(t, executor == scenarios.MPI, p.Device.EagerLimit == 64*unit.KiB)
			}
			report, err := s.Run(context.Background(), run.RunOptions{})
			require.NoError(t, err)
			for _, r := range report.Results {
				require.True(t, r.Timed, "%s %v", file, r.Algorithm)
			}
		}
	}
}

// TestValidateMemory: what takes more memory than there is, is simulated and not executed, and it
// is said what it takes and what there is; that is asked before anything is made.
func TestValidateMemory(t *testing.T) {
	for _, test := range []struct {
		left  int64
		known bool
		want  int // of the points, how many are executed
		why   string
	}{
		{0, false, 4, ""},
		{1 << 40, true, 4, ""},
		{1, true, 0, "KiB of memory to execute it: the control group has 1 B left"},
		{50 << 10, true, 2, "KiB of memory to execute it: the control group has 50 KiB left"},
	} {
		s, err := run.Load("s.toml", []byte(four), run.LoadOptions{})
		require.NoError(t, err)
		executed := 0
		r, err := s.Validate(context.Background(), run.ValidateOptions{
			Memory: func() (int64, string, bool) { return test.left, "the control group", test.known },
			Open: func(context.Context, *scenarios.Hardware, *topology.Graph) (hw.Executor, error) {
				h, err := host.New(host.Config{})
				return &sized{h, &executed}, err
			}})
		require.NoError(t, err)
		require.Len(t, r.Results, 4)
		require.Equal(t, test.want, executed)
		for _, result := range r.Results {
			if result.Measured.Skipped != "" {
				require.Contains(t, result.Measured.Skipped, test.why)
			}
		}
	}
}

// sized counts what it executes.
type sized struct {
	*host.Host
	executed *int
}

func (s *sized) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	*s.executed++
	return s.Host.Run(ctx, job)
}
