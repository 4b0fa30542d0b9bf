package nccl

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/internal/tier"
	"collsim/reference"
	"collsim/schedule"
)

// algorithm is ours of a kind that does what the stand-in does, in its order of additions.
func algorithm(k collective.Kind) (name string, params []algos.Param) {
	switch k {
	case collective.AllReduce:
		return "ring", []algos.Param{{Name: "order", Value: "nccl"}}
	case collective.ReduceScatter, collective.AllGather:
		return "ring", nil
	case collective.Reduce, collective.Broadcast:
		return "chain", nil
	}
	return algos.ForKind(k)[0].Name, nil
}

// kinds are those that NCCL does.
func kinds() []collective.Kind {
	return []collective.Kind{collective.AllReduce, collective.ReduceScatter, collective.Reduce,
		collective.Broadcast, collective.AllGather, collective.Gather, collective.Scatter,
		collective.AllToAll, collective.AllToAllV, collective.SendRecv}
}

// jobOf is a collective with inputs whose sums depend on the order of the additions, among them
// numbers that are none, infinite, too small and too large.
func jobOf(t *testing.T, spec collective.Spec, seed uint64) *hw.Job {
	t.Helper()
	name, params := algorithm(spec.Kind)
	a, err := algos.Find(spec.Kind, name)
	require.NoError(t, err)
	s, err := a.Build(spec, algos.Options{Params: params})
	require.NoError(t, err)
	return &hw.Job{Schedule: s, Inputs: inputsOf(&spec, seed)}
}

func inputsOf(spec *collective.Spec, seed uint64) [][]byte {
	r := rand.New(rand.NewPCG(seed, uint64(spec.Type)))
	in := make([][]byte, spec.Ranks)
	for rank := range in {
		for i := range spec.In(rank) {
			in[rank] = appendElement(in[rank], spec.Type, r, i)
		}
	}
	return in
}

func appendElement(b []byte, t dtype.Type, r *rand.Rand, i int64) []byte {
	switch x := math.Ldexp(r.NormFloat64(), r.IntN(12)); {
	case t == dtype.Float64 && i%7 != 0:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	case t == dtype.Float32 && i%7 != 0:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	for range t.Width() { // any bits
		b = append(b, byte(r.Uint32()))
	}
	return b
}

// specsOf are a kind's collectives in every type and by every operator that NCCL has of it, in
// place and not.
func specsOf(k collective.Kind, ranks int, count int64) (all []collective.Spec) {
	r := rand.New(rand.NewPCG(uint64(k), uint64(ranks)))
	for _, typ := range dtype.All() {
		ops := collective.Ops()
		if !k.Reduces() {
			ops = []collective.Op{0}
		}
		for _, op := range ops {
			for _, inPlace := range []bool{false, true} {
				s := collective.Spec{Kind: k, Op: op, Type: typ, Ranks: ranks, Count: count,
					InPlace: inPlace}
				if k.Rooted() {
					s.Root = r.IntN(ranks)
				}
				if op == collective.PremulSum {
					if s.Factor = 3; typ.IsFloat() {
						s.Factor = 1.75
					}
				}
				if k == collective.AllToAllV {
					s.Count, s.Splits = 0, make([][]int64, ranks)
					for i := range s.Splits {
						for range ranks {
							s.Splits[i] = append(s.Splits[i], r.Int64N(count+1))
						}
					}
				}
				_, err := functionOf(&s)
				if err == nil && s.Validate() == nil {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// TestEverything: every collective that NCCL has, in every type and by every operator, in place and
// not, gives through the stand-in the bits of the interpreter of the same schedule. In the short
// tier every type and every operator is met, not all together, and few in processes of their own.
func TestEverything(t *testing.T) {
	standIn(t)
	all := []int{1, 2, 3, 5}
	for _, c := range []struct {
		name   string
		config Config
		every  int   // of so many
		ranks  []int // besides 4
	}{{"together", Config{}, tier.Of(43, 1), tier.Of([]int{1, 5}, all)},
		{"apart", Config{Apart: true}, tier.Of(97, 1), tier.Of([]int{2}, all)}} {
		t.Run(c.name, func(t *testing.T) {
			d := New(c.config)
			defer func() { require.NoError(t, d.Close()) }()
			tried, met := map[collective.Kind]int{}, map[string]bool{}
			for _, k := range kinds() {
				for _, spec := range specsOf(k, 4, 23) {
					met[spec.Type.String()], met[spec.Op.String()] = false, false
				}
			}
			for _, k := range kinds() {
				for i, spec := range specsOf(k, 4, 23) {
					news := !met[spec.Type.String()] || !met[spec.Op.String()]
					if i%c.every != 0 && (c.config.Apart || !news) {
						continue
					}
					equal(t, d, spec, hw.Env{})
					tried[k]++
					met[spec.Type.String()], met[spec.Op.String()] = true, true
				}
			}
			require.Len(t, tried, len(kinds()))
			for word, is := range met {
				require.True(t, is || c.config.Apart && !tier.Long, "%s is not met", word)
			}
			for _, ranks := range c.ranks {
				for i, k := range kinds() {
					count := 1 + int64(i)*30_001 // that many are more than what a FIFO holds
					if !tier.Long {
						count = 1 + int64((i+ranks)%2)*10_001 // so are those
					}
					spec := specsOf(k, ranks, count)[0]
					equal(t, d, spec, hw.Env{Warmup: 1, Repetitions: 2, Iterations: 2})
				}
			}
		})
	}
}

// equal executes a collective and compares bits.
func equal(t *testing.T, d *Executor, spec collective.Spec, env hw.Env) {
	t.Helper()
	job := jobOf(t, spec, 3)
	job.Env = env
	got := bitsOf(t, d, job)
	require.Contains(t, got.RanOn.Transport, "stand-in: not NCCL, CUDA 13.0, 8 of stand-in device 0")
}

// bitsOf executes a job, and wants the bits of the interpreter.
func bitsOf(t *testing.T, d *Executor, job *hw.Job) *hw.Result {
	t.Helper()
	spec := job.Schedule.Spec
	want, err := reference.RunBytes(job.Schedule, job.Inputs, reference.RunOptions{})
	require.NoError(t, err)
	got, err := d.Run(context.Background(), job)
	require.NoError(t, err, "%s: %+v", job.Schedule.Name, spec)
	require.Len(t, got.Repetitions, max(job.Env.Repetitions, 1))
	for rank := range want {
		require.True(t, string(want[rank]) == string(got.Outputs[rank]), "%s: %v rank %d:\n%v\n%v",
			job.Schedule.Name, named(&spec), rank, shown(want[rank]), shown(got.Outputs[rank]))
	}
	return got
}

func shown(b []byte) string { return fmt.Sprintf("%x", b[:min(len(b), 200)]) }

func named(s *collective.Spec) string {
	return fmt.Sprintf("%v %v %v root %d in place %v", s.Kind, s.Op, s.Type, s.Root, s.InPlace)
}

// TestInPlaceIterations: a collective that overwrites its input has it again in each iteration.
func TestInPlaceIterations(t *testing.T) {
	standIn(t)
	d := New(Config{})
	defer d.Close()
	for _, k := range []collective.Kind{collective.AllReduce, collective.ReduceScatter} {
		equal(t, d, collective.Spec{Kind: k, Op: collective.Sum, Type: dtype.Float32, Ranks: 3,
			Count: 100, InPlace: true}, hw.Env{Repetitions: 3, Iterations: 4})
	}
}

// TestRefusals: what NCCL does not do is refused by name before anything is called.
func TestRefusals(t *testing.T) {
	standIn(t)
	d := New(Config{})
	defer d.Close()
	for _, c := range []struct {
		spec collective.Spec
		want string
	}{
		{collective.Spec{Kind: collective.Barrier}, "NCCL has no barrier"},
		{collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Int16, Count: 4},
			"int16: NCCL has no such type to reduce"},
		{collective.Spec{Kind: collective.AllToAll, Type: dtype.Int32, Count: 4, InPlace: true},
			"NCCL has no all_to_all in place"},
		{collective.Spec{Kind: collective.AllReduce, Op: collective.Avg, Avg: collective.AvgPost,
			Type: dtype.Float32, Count: 4}, "NCCL divides floats before the sum, not after it"},
		{collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Int32, Count: 4,
			Ranks: 9}, "9 ranks: this machine has 8 GPUs, and NCCL wants one for each; processes " +
			`share them (transport = "unix")`},
	} {
		if c.spec.Ranks == 0 {
			c.spec.Ranks = 2
		}
		s := refused(t, c.spec)
		in := make([][]byte, c.spec.Ranks)
		for rank := range in {
			in[rank] = make([]byte, c.spec.In(rank)*int64(c.spec.Type.Width()))
		}
		_, err := d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in})
		var refusal *hw.Refusal
		require.ErrorAs(t, err, &refusal)
		require.EqualError(t, err, c.want)
	}
}

// refused is a schedule of a collective that nobody has to prove.
func refused(t *testing.T, spec collective.Spec) *schedule.Schedule {
	t.Helper()
	like := spec
	like.InPlace = false
	s, err := algos.ForKind(spec.Kind)[0].Build(like, algos.Options{})
	require.NoError(t, err)
	s.Spec = spec
	return s
}
