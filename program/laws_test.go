package program_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/program"
	"collsim/proof"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// anyProgram is a random program of 4 ranks: matrices of 8 columns that matmuls, sums and calls of
// three groups make of each other.
func anyProgram(seed uint64) *program.Program {
	r := rand.New(rand.NewPCG(seed, 18))
	p := &program.Program{Name: "any", Ranks: 4, Iterations: 1 + r.IntN(2),
		Groups: []program.Group{{Name: "tp", Teams: [][]int{{0, 1}, {2, 3}}},
			{Name: "dp", Teams: [][]int{{0, 2}, {1, 3}}}, {Name: "first", Teams: [][]int{{0, 1}}}}}
	matrix := func(name string, rows int64) {
		p.Tensors = append(p.Tensors, program.Tensor{Name: name, Type: dtype.Float32,
			Shape: collective.Shape{rows, 8}, Keep: r.IntN(4) == 0,
			Memory: []program.Memory{program.Private, program.Private, program.Symmetric}[r.IntN(3)]})
	}
	matrix("w", 8)
	matrix("x", 8)
	matrix("g", 16)
	rows := map[string]int64{"w": 8, "x": 8, "g": 16}
	have := []string{"w", "x", "g"}
	for i := range 3 + r.IntN(10) {
		in := have[r.IntN(len(have))]
		o := program.Op{Name: fmt.Sprintf("op%d", i), In: []string{in}, Out: fmt.Sprintf("t%d", i),
			Stream: []string{"", "", "", "other"}[r.IntN(4)]}
		n := rows[in]
		kind := r.IntN(7)
		if kind > 1 {
			o.Group, o.Async = []string{"", "tp", "dp"}[r.IntN(3)], r.IntN(2) == 0
		}
		ranks := map[string]int64{"": 4, "tp": 2, "dp": 2}[o.Group]
		switch {
		case kind == 0:
			o.Kernel, o.In = "matmul", []string{in, "w"}
		case kind == 1 || kind == 4 && n*ranks > 64 || kind == 5 && n%ranks != 0:
			o.Kernel, o.In, o.Group, o.Async = "add", []string{in, in}, "", false
		case kind == 4:
			o.Call, n = "all_gather", n*ranks
		case kind == 5:
			o.Call, n = "reduce_scatter", n/ranks
		case kind == 6:
			o.Call = "broadcast"
		default:
			o.Call = "all_reduce"
		}
		if o.Call != "" && n == rows[in] && o.Call != "all_gather" && o.Call != "reduce_scatter" &&
			slices.Contains(have[3:], in) && r.IntN(3) == 0 {
			o.Out = in
			p.Ops = append(p.Ops, o)
			continue
		}
		if r.IntN(3) == 0 && len(have) > 3 { // a declared result
			matrix(o.Out, n)
		}
		rows[o.Out], have = n, append(have, o.Out)
		p.Ops = append(p.Ops, o)
	}
	return p
}

// machine is where programs of the laws run: launches cost something, and so do matmuls.
func machine(t testing.TB, ranks int) sim.Env {
	t.Helper()
	graph, err := topology.Switch(ranks, 10*unit.Rate(unit.GB), unit.Microsecond)
	require.NoError(t, err)
	d := device.Ideal()
	for name, value := range map[string]string{"sms": "8", "blocks_per_sm": "4",
		"vector_float32": "8 GFLOP/s", "tile": "4x4", "copy_engines": "2", "launch": "2 us"} {
		require.NoError(t, device.Find(name).Set(&d, value))
	}
	return sim.Env{Graph: graph, Device: d, Slots: 8}
}

// timedBy is what passes ask how long a program takes.
func timedBy(env sim.Env) func(*schedule.Schedule) (unit.Time, error) {
	return func(s *schedule.Schedule) (unit.Time, error) {
		ran, err := sim.Run(s, env, sim.Options{})
		return ran.Time, err
	}
}

// lowerings are all passes alone, all at once, and none.
func lowerings() map[string]program.Lowering {
	return map[string]program.Lowering{
		"none":     {},
		"one_shot": {OneShot: 256, SymmetricMemory: true},
		"bucket":   {Bucket: 1024},
		"coalesce": {Coalesce: true},
		"in_place": {InPlace: true},
		"pipeline": {Pipeline: program.RepairedPipeline},
		"faster":   {Pipeline: program.PipelineIfFaster},
		"reorder":  {Reorder: true},
		"reuse":    {Reuse: true},
		"register": {Register: true, Registering: unit.Microsecond},
		"staged":   {CommBuffer: 2048, Registering: unit.Microsecond, Reuse: true},
		"kept":     {Register: true, Persistent: true, Registering: unit.Microsecond, Reuse: true},
		"all": {OneShot: 256, SymmetricMemory: true, Bucket: 1024, Coalesce: true, InPlace: true,
			Pipeline: program.PipelineIfFaster, Reorder: true, Reuse: true,
			Register: true, Persistent: true},
	}
}

// TestLawsOfPasses: whatever passes are on, a program computes what it says, and the same as
// without them; what is chosen because it is faster is not slower, and reuse takes no more memory.
func TestLawsOfPasses(t *testing.T) {
	env := machine(t, 4)
	parameters := gopter.DefaultTestParametersWithSeed(19)
	parameters.MinSuccessfulTests = tier.Of(6, 40)
	properties := gopter.NewProperties(parameters)
	properties.Property("passes keep what is computed", prop.ForAll(func(seed uint64) string {
		return brokenLaw(t, anyProgram(seed), env)
	}, gen.UInt64()))
	properties.TestingRun(t)
}

// brokenLaw says which law a program breaks.
func brokenLaw(t *testing.T, p *program.Program, env sim.Env) string {
	plain, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err)
	time := timedBy(env)
	unchanged, err := time(plain.Schedule)
	require.NoError(t, err)
	for name, passes := range lowerings() {
		guide := program.Guide{Choose: byName, Time: time}
		low, err := program.LowerBy(p, passes, guide)
		if err != nil {
			return fmt.Sprintf("%s: %v", name, err)
		}
		if _, found := proof.Verify(low.Schedule, proof.Options{}); len(found) > 0 {
			return fmt.Sprintf("%s: %v", name, found[0])
		}
		took, err := time(low.Schedule)
		require.NoError(t, err)
		chooses := name == "reorder" || name == "faster" || name == "reuse"
		if chooses && took > unchanged {
			return fmt.Sprintf("%s: %v instead of %v", name, took, unchanged)
		}
		if name == "reuse" && (took != unchanged || low.Memory.Bytes > plain.Memory.Bytes ||
			low.Memory.Peak != plain.Memory.Peak || low.Memory.Bytes < low.Memory.Peak) {
			return fmt.Sprintf("reuse: %v, %v instead of %v, %v; %v instead of %v", low.Memory.Bytes,
				low.Memory.Peak, plain.Memory.Bytes, plain.Memory.Peak, took, unchanged)
		}
		if same := again(t, p, passes, guide, low); same != "" {
			return name + ": " + same
		}
	}
	return ""
}

// again lowers a program as it has been decided, which must give the same.
func again(t *testing.T, p *program.Program, passes program.Lowering,
	guide program.Guide, low *program.Lowered) string {
	guide.Decided = &low.Decided
	same, err := program.LowerBy(p, passes, guide)
	require.NoError(t, err)
	if !schedule.Equal(low.Schedule, same.Schedule) {
		return "decided once more, it is another"
	}
	return ""
}

// TestStagesKeepTheLaws: ranks that do different things, two stages and three microbatches.
func TestStagesKeepTheLaws(t *testing.T) {
	p := &program.Program{Name: "stages", Ranks: 2, Iterations: 2, Groups: []program.Group{
		{Name: "one", Teams: [][]int{{0}}}, {Name: "two", Teams: [][]int{{1}}}},
		Tensors: []program.Tensor{{Name: "w", Type: dtype.Float32, Shape: collective.Shape{8, 8}}}}
	for i := range 3 {
		name := func(of string) string { return fmt.Sprint(of, i) }
		p.Tensors = append(p.Tensors, program.Tensor{Name: name("x"), Type: dtype.Float32,
			Shape: collective.Shape{16, 8}})
		p.Ops = append(p.Ops,
			program.Op{Name: name("first"), Kernel: "matmul", In: []string{name("x"), "w"},
				Out: name("a"), Group: "one"},
			program.Op{Name: name("send"), Call: "broadcast", In: []string{name("a")}, Out: name("b"),
				Async: true},
			program.Op{Name: name("second"), Kernel: "matmul", In: []string{name("b"), "w"},
				Out: name("c"), Group: "two"},
			program.Op{Name: name("third"), Kernel: "matmul", In: []string{name("c"), "w"},
				Out: name("y"), Group: "two"})
	}
	require.Empty(t, brokenLaw(t, p, machine(t, 2)))
	low, err := program.Lower(p, program.Lowering{Reuse: true}, byName)
	require.NoError(t, err)
	require.Contains(t, notesOf(low),
		"reuse [c1]: 512 B where c0 was (c0 is dead when second1 begins)")
	p.Ops[0].Group = "three"
	require.ErrorContains(t, p.Validate(), `first0: there is no group "three"`)
}

// TestIterationsAreSteady: programs carry nothing from one iteration to the next; where ranks do
// the same in turn, n iterations take n times the steady one, and what the first waits for.
func TestIterationsAreSteady(t *testing.T) {
	graph, err := topology.Switch(4, 10*unit.Rate(unit.GB), unit.Microsecond)
	require.NoError(t, err)
	time := timedBy(sim.Env{Graph: graph, Device: device.Ideal(), Slots: 8})
	parameters := gopter.DefaultTestParametersWithSeed(20)
	parameters.MinSuccessfulTests = tier.Of(20, 200)
	properties := gopter.NewProperties(parameters)
	properties.Property("n iterations take n times one", prop.ForAll(func(seed uint64) string {
		p := anyProgram(seed)
		for i := range p.Ops {
			o := &p.Ops[i]
			if o.Async, o.Stream = false, ""; o.Call == "broadcast" {
				o.Call = "all_reduce" // all ranks wait for all
			}
		}
		var took []unit.Time
		for n := 1; n <= 4; n++ {
			p.Iterations = n
			low, err := program.Lower(p, program.Lowering{InPlace: true, Reuse: true}, byName)
			require.NoError(t, err)
			is, err := time(low.Schedule)
			require.NoError(t, err)
			took = append(took, is)
		}
		for i, is := range took {
			if is != unit.Time(i+1)*took[0] {
				return fmt.Sprint(took)
			}
		}
		return ""
	}, gen.UInt64()))
	properties.TestingRun(t)
}
