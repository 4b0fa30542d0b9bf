package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/proof"
	"collsim/schedule"
	"collsim/sim"
	"collsim/symmetry"
)

// foldable writes a random program of calls and kernels on nodes of GPUs, among the ranks of each
// node, of each rail, or among all.
func foldable(rng *rand.Rand) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	nodes, each := 2+rng.IntN(5), 1+rng.IntN(4)
	var b strings.Builder
	fmt.Fprintf(&b, "[topology]\nnodes = %d\n[topology.node]\npreset = %q\nranks = %d\n", nodes,
		pick("switch", "full-mesh", "switch", "ring"), each)
	fmt.Fprintf(&b, "bandwidth = \"%d GB/s\"\nlatency = \"%d ns\"\n", 10+rng.IntN(400), rng.IntN(2000))
	fmt.Fprintf(&b, "[topology.network]\npreset = %q\nbandwidth = \"%d GB/s\"\nlatency = \"1 us\"\n",
		pick("rails", "switch"), 5+rng.IntN(60))
	if device := pick("", "h100-sxm", "a100-80gb"); device != "" {
		fmt.Fprintf(&b, "[device]\npreset = %q\n", device)
	}
	fmt.Fprintf(&b, "[check]\nnumbers = false\n[program]\niterations = %d\n", 1+rng.IntN(2))
	if rng.IntN(2) == 0 {
		b.WriteString("gradient = \"full\"\n")
	}
	b.WriteString("[[program.group]]\nname = \"tp\"\nranks = \"node\"\n" +
		"[[program.group]]\nname = \"dp\"\nranks = \"rail\"\n" +
		"[[program.tensor]]\nname = \"x0\"\nshape = [48, 64]\n")
	ranks := map[string]int{"tp": each, "dp": nodes, "all": nodes * each}
	for i := range 1 + rng.IntN(5) {
		group := pick("tp", "dp", "tp", "dp", "all")
		n := ranks[group]
		algorithm := pick("ring", "direct", "pairwise", "ring(channels=5)", "recursive-doubling",
			"binomial", "ring", "ring", "fastest")
		calls := []string{"all_reduce", "all_reduce avg", "all_to_all"}
		if 48%n == 0 {
			calls = append(calls, "all_gather", "reduce_scatter")
		}
		call := pick(calls...)
		if n == 1 || call == "all_to_all" && 48%n != 0 {
			call = "all_reduce"
		}
		reduces := strings.HasPrefix(call, "all_reduce")
		switch {
		case algorithm == "recursive-doubling" && (n&(n-1) != 0 || !reduces),
			algorithm == "binomial" && !reduces, algorithm == "pairwise" && call != "all_to_all",
			algorithm == "direct" && call != "all_to_all" && call != "all_gather":
			algorithm = "ring" // of all calls
		}
		op := func(name, what, in, out string) {
			fmt.Fprintf(&b, "[[program.op]]\nname = %q\n%s\nin = %s\nout = %q\n", name, what, in, out)
		}
		made := fmt.Sprintf("c%d", i)
		op(made, fmt.Sprintf("call = %q\nalgorithm = %q\ngroup = %q\nasync = %v\nstream = %q", call,
			algorithm, group, rng.IntN(2) == 0, pick("comm", "comm2")), fmt.Sprintf("[\"x%d\"]", i), made)
		back := pick("", "algorithm = \"ring\"\n", "algorithm = \"ring\"\n") // to the shape of x
		switch call {
		case "all_gather":
			op(made+"s", fmt.Sprintf("call = \"reduce_scatter\"\n%sgroup = %q", back, group),
				fmt.Sprintf("[%q]", made), made+"s")
			made += "s"
		case "reduce_scatter":
			op(made+"g", fmt.Sprintf("call = \"all_gather\"\n%sgroup = %q", back, group),
				fmt.Sprintf("[%q]", made), made+"g")
			made += "g"
		}
		if rng.IntN(2) == 0 {
			op(fmt.Sprint("k", i), "kernel = \"add\"", fmt.Sprintf("[%q, \"x0\"]", made),
				fmt.Sprintf("x%d", i+1))
		} else {
			op(fmt.Sprint("k", i), "kernel = \"gelu\"", fmt.Sprintf("[%q]", made),
				fmt.Sprintf("x%d", i+1))
		}
	}
	return b.String()
}

var foldedRuns = flag.Int("folded-programs", 0, "the number of random programs that are folded")

// TestFoldedPrograms: a folded program takes as long as it does on all ranks, op by op, sends as
// much, and is proven where that is, by every symmetry by which it can be folded. Without the order
// of its parts it is refuted where that is. A hundred thousand programs:
//
//	go test ./run -run TestFoldedPrograms$ -timeout 0 -v -args -folded-programs 100000
func TestFoldedPrograms(t *testing.T) {
	folds, proven, refuted, represented := 0, 0, 0, map[int]int{}
	runs := tier.Of(60, 200)
	if *foldedRuns > 0 {
		runs = *foldedRuns
	}
	for seed := range runs {
		text := foldable(rand.New(rand.NewPCG(uint64(seed), 5)))
		s, err := Load("random", []byte(text), LoadOptions{})
		require.NoError(t, err, text)
		r := &runner{s: s}
		p := s.Programs[0]
		whole := &ProgramResult{Point: p}
		require.NoError(t, r.enter(p.Point))
		whole.Lowered, whole.chosen, err = r.lower(p, nil)
		require.NoError(t, err, text)
		require.NoError(t, r.timeProgram(whole), text)
		whole.prove(whole.Lowered.Schedule, p.Sim.Slots)
		require.Equal(t, Proved, whole.Proof, text)
		digits := digitsOf(p)
		for _, steps := range symmetry.Subgroups(digits, mostSymmetries, p.Topology.Ranks/2, nil) {
			alike := symmetry.NewSubgroup(digits, steps)
			env := envOf(p.Point, r.network.graph)
			if sim.FoldedEnv(&env, alike) != nil {
				continue
			}
			folded := &ProgramResult{Point: p}
			folded.Lowered, folded.chosen, err = lowerBy(r, p, nil, programOf(p, r.s.Name), alike)
			var cannot *schedule.NotFolded
			if errors.As(err, &cannot) {
				continue
			}
			require.NoError(t, err, text)
			if sim.Foldable(folded.Lowered.Schedule, env) != nil {
				continue
			}
			folds++
			represented[len(alike.Elements)]++
			require.NoError(t, r.timeProgram(folded), text)
			require.Equal(t, "fold", folded.Engine)
			if proof.VerifyFolded(folded.Lowered.Schedule, p.Sim.Slots) {
				proven++
				bare := withoutOrder(t, folded.Lowered.Schedule)
				isProven := proof.VerifyFolded(bare, p.Sim.Slots)
				_, found := proof.Verify(withoutOrder(t, whole.Lowered.Schedule),
					proof.Options{Slots: p.Sim.Slots})
				require.Equal(t, len(found) == 0, isProven, text)
				if !isProven {
					refuted++
				}
			}
			require.Equal(t, whole.Time, folded.Time, "%v %v\n%s", digits, steps, text)
			require.Equal(t, whole.Ops, folded.Ops, "%v %v\n%s", digits, steps, text)
			require.Equal(t, whole.Iterations, folded.Iterations)
			require.Equal(t, whole.BytesSent, folded.BytesSent)
			require.Equal(t, whole.Lowered.Memory, folded.Lowered.Memory)
			whole.Rank, folded.Rank = 0, 0
			require.Equal(t, whole.Usage, folded.Usage)
		}
	}
	require.Greater(t, folds, 30)
	require.Greater(t, proven, folds/2)
	require.Greater(t, refuted, proven/4)
	t.Log(folds, proven, refuted, represented)
}

// withoutOrder returns a program's schedule whose parts wait for those of their streams alone.
func withoutOrder(t *testing.T, s *schedule.Schedule) *schedule.Schedule {
	parts := s.Parts()
	for i := range parts {
		parts[i].After = nil
	}
	bare, err := schedule.ComposeLike(s, s.Name, parts)
	require.NoError(t, err)
	bare.Means = s.Means
	return bare
}

// TestFoldedAlike: two groups whose teams are folded to the same ranks have schedules of their own,
// each as its links are.
func TestFoldedAlike(t *testing.T) {
	const text = `
[topology]
nodes = 4
[topology.node]
preset = "switch"
ranks = 4
bandwidth = "450 GB/s"
latency = "500 ns"
[topology.network]
preset = "rails"
bandwidth = "25 GB/s"
latency = "1 us"
[device]
preset = "h100-sxm"
[[program.group]]
name = "tp"
ranks = "node"
[[program.group]]
name = "dp"
ranks = "rail"
[[program.tensor]]
name = "x"
shape = [3603600, 4]
[[program.op]]
name = "a"
call = "all_reduce"
algorithm = "ring"
in = "x"
out = "y"
group = "tp"
[[program.op]]
name = "b"
call = "all_reduce"
algorithm = "ring"
in = "y"
out = "z"
group = "dp"
`
	s, err := Load("two groups", []byte(text), LoadOptions{})
	require.NoError(t, err)
	r, p := &runner{s: s}, s.Programs[0]
	require.NoError(t, r.enter(p.Point))
	whole, _, err := r.lower(p, nil)
	require.NoError(t, err)
	folded, _, err := lowerBy(r, p, nil, programOf(p, r.s.Name),
		symmetry.NewSubgroup(symmetry.Group{4, 4}, []int32{1, 1}))
	require.NoError(t, err)
	require.NotEqual(t, whole.Ops[0].Became, whole.Ops[1].Became)
	for i := range whole.Ops {
		require.Equal(t, whole.Ops[i].Became, folded.Ops[i].Became)
	}
}

// TestFoldedPipeline: a pipeline of 16 stages, each of 128 replicas of 8 ranks, is one rank a
// stage. Most products of translations that leave fewer ranks move stages to each other.
func TestFoldedPipeline(t *testing.T) {
	const stages, replicas, width = 16, 128, 8
	rank := func(replica, stage, k int) int { return (replica*stages+stage)*width + k }
	text := fmt.Sprintf("[topology]\nnodes = %d\n[topology.node]\npreset = \"switch\"\nranks = %d\n"+
		"bandwidth = \"450 GB/s\"\nlatency = \"500 ns\"\n[topology.network]\npreset = \"rails\"\n"+
		"bandwidth = \"50 GB/s\"\nlatency = \"1 us\"\n[check]\nnumbers = false\n"+
		"[[program.tensor]]\nname = \"x0\"\nshape = [8, 64]\n", stages*replicas, width)
	for s := range stages {
		var here, next []string
		for d := range replicas {
			for k := range width {
				here = append(here, fmt.Sprint(rank(d, s, k)))
				next = append(next, fmt.Sprintf("[%d, %d]", rank(d, s, k), rank(d, s, k)+width))
			}
		}
		text += fmt.Sprintf("[[program.group]]\nname = \"s%d\"\nranks = [[%s]]\n", s,
			strings.Join(here, ", "))
		text += fmt.Sprintf("[[program.op]]\nkernel = \"cast\"\nin = \"x%d\"\nout = \"y%d\"\n"+
			"group = \"s%d\"\n", s, s, s)
		if s < stages-1 {
			text += fmt.Sprintf("[[program.group]]\nname = \"to%d\"\nranks = [%s]\n", s+1,
				strings.Join(next, ", "))
			text += fmt.Sprintf("[[program.op]]\ncall = \"broadcast\"\nalgorithm = \"flat\"\n"+
				"in = \"y%d\"\nout = \"x%d\"\ngroup = \"to%d\"\n", s, s+1, s+1)
		}
	}
	var alike []string // replicas of the first stage
	for k := range width {
		var team []string
		for d := range replicas {
			team = append(team, fmt.Sprint(rank(d, 0, k)))
		}
		alike = append(alike, "["+strings.Join(team, ", ")+"]")
	}
	text += fmt.Sprintf("[[program.group]]\nname = \"dp\"\nranks = [%s]\n[[program.op]]\n"+
		"call = \"all_reduce\"\nalgorithm = \"ring\"\nin = \"y0\"\nout = \"sum\"\ngroup = \"dp\"\n",
		strings.Join(alike, ", "))
	s, err := Load("p.toml", []byte(text), LoadOptions{})
	require.NoError(t, err)
	result, err := s.Run(context.Background(), RunOptions{})
	require.NoError(t, err)
	require.Equal(t, stages, result.Programs[0].Classes)
	require.Equal(t, Proved, result.Programs[0].Proof)
}
