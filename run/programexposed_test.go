package run_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
	"collsim/trace"
	"collsim/unit"
)

// anyScenario is a random program of matmuls and calls, on two streams each.
func anyScenario(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 21))
	var b strings.Builder
	b.WriteString("[topology]\npreset = \"switch\"\nranks = 4\nbandwidth = \"50 GB/s\"\n" +
		"latency = \"1 us\"\n[device]\npreset = \"h100-sxm\"\n[check]\nproof = false\n" +
		"numbers = false\n[[program.tensor]]\nname = \"w\"\nshape = [256, 256]\n")
	have := []string{"w"}
	for i := range 3 + r.IntN(6) {
		in := have[r.IntN(len(have))]
		out := fmt.Sprint("t", i)
		fmt.Fprintf(&b, "[[program.op]]\nout = %q\n", out)
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "kernel = \"matmul\"\nin = [%q, \"w\"]\n", in)
		} else {
			fmt.Fprintf(&b, "call = \"all_reduce\"\nalgorithm = \"ring\"\nin = %q\nasync = %v\n", in,
				r.IntN(2) == 0)
		}
		if r.IntN(3) == 0 {
			b.WriteString("stream = \"other\"\n")
		}
		have = append(have, out)
	}
	return b.String()
}

// TestExposedAndHidden: what is exposed and what is hidden behind kernels are all communication, on
// every rank; found here moment by moment in the timeline, of which the result has the largest.
func TestExposedAndHidden(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(22)
	parameters.MinSuccessfulTests = tier.Of(15, 150)
	properties := gopter.NewProperties(parameters)
	properties.Property("exposed and hidden are all", prop.ForAll(func(seed uint64) string {
		s, err := run.Load("p.toml", []byte(anyScenario(seed)), run.LoadOptions{Set: []string{
			`lowering.comm_buffer="64 KiB"`, `lowering.registering="2 us"`}})
		require.NoError(t, err)
		report, err := s.Run(context.Background(), run.RunOptions{Trace: true})
		require.NoError(t, err)
		r := report.Programs[0]
		var calls, exposed, hidden [4]unit.Time
		for rank := range calls {
			calls[rank], exposed[rank], hidden[rank] = moments(r, rank)
			if calls[rank] != exposed[rank]+hidden[rank] {
				return fmt.Sprint(calls, exposed, hidden)
			}
		}
		if r.Calls != slices.Max(calls[:]) || r.Exposed != slices.Max(exposed[:]) {
			return fmt.Sprint(r.Calls, r.Exposed, calls, exposed)
		}
		return ""
	}, gen.UInt64()))
	properties.TestingRun(t)
}

// moments walks the moments of a rank at which something begins or ends.
func moments(r *run.ProgramResult, rank int) (calls, exposed, hidden unit.Time) {
	type what struct {
		from, to unit.Time
		call     bool
	}
	parts := map[int]*what{}
	var all []what
	times := []unit.Time{}
	program := r.Lowered.Schedule.Program(rank)
	isCall := map[int]bool{}
	for _, o := range r.Lowered.Ops {
		for _, p := range o.Parts {
			isCall[p] = o.IsCall
		}
	}
	for _, x := range r.Trace.Intervals {
		k := r.Trace.Tracks[x.Track]
		if int(k.Rank) != rank {
			continue
		}
		part := program.Part(int(k.Lane))
		times = append(times, x.Start, x.End)
		if x.Kind == trace.Compute && !slices.Contains(r.Lowered.Registering, part) {
			all = append(all, what{x.Start, x.End, false})
		}
		if !isCall[part] {
			continue
		}
		if parts[part] == nil {
			parts[part] = &what{x.Start, x.End, true}
		}
		p := parts[part]
		p.from, p.to = min(p.from, x.Start), max(p.to, x.End)
	}
	for _, p := range parts {
		all = append(all, *p)
	}
	slices.Sort(times)
	for i := 1; i < len(times); i++ {
		during := func(call bool) bool {
			return slices.ContainsFunc(all, func(w what) bool {
				return w.call == call && w.from <= times[i-1] && times[i] <= w.to
			})
		}
		if d := times[i] - times[i-1]; during(true) {
			if calls += d; during(false) {
				hidden += d
			} else {
				exposed += d
			}
		}
	}
	return calls, exposed, hidden
}
