package comm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/comm"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/callbacks"
	"collsim/hw/host"
	"collsim/reference"
	"collsim/schedule"
)

// interpreter is package reference as an executor.
func interpreter(_ context.Context, s *schedule.Schedule, in [][]byte) ([][]byte, error) {
	return reference.RunBytes(s, in, reference.RunOptions{})
}

// executors are all that a world can be made with.
func executors(t *testing.T) map[string]comm.Execute {
	goroutines, err := host.New(host.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, goroutines.Close()) })
	return map[string]comm.Execute{"interpreter": interpreter,
		"host":      hw.ExecuteOn(goroutines, hw.Env{}),
		"callbacks": hw.ExecuteOn(callbacks.New(callbacks.Config{}), hw.Env{Slots: 8})}
}

func world(t *testing.T, ranks int) *comm.World {
	t.Helper()
	w, err := comm.New(ranks, interpreter, nil)
	require.NoError(t, err)
	return w
}

func parse(t *testing.T, text string) collective.Communication {
	t.Helper()
	c, err := collective.ParseCommunication(text)
	require.NoError(t, err)
	return *c
}

// together has all ranks post and wait, each in a goroutine of its own.
func together(ranks int, post func(rank int) *comm.Handle) ([]comm.Outcome, []error) {
	outcomes, errs := make([]comm.Outcome, ranks), make([]error, ranks)
	var all sync.WaitGroup
	for rank := range ranks {
		all.Go(func() { outcomes[rank], errs[rank] = post(rank).Wait() })
	}
	all.Wait()
	return outcomes, errs
}

// buffers are tensors for a rank's blocks, the inputs with random small integers.
func buffers(c *collective.Communication, position, ranks int, r *rand.Rand) (t comm.Tensors) {
	in, out := c.Blocks(position, ranks)
	for _, shape := range in {
		values := make([]int32, shape.Elements())
		for i := range values {
			values[i] = int32(r.IntN(1000))
		}
		t.In = append(t.In, comm.Of(shape, values...))
	}
	for _, shape := range out {
		t.Out = append(t.Out, comm.Of[int32](shape))
	}
	return t
}

// flat are the elements of tensors one behind the other.
func flat(list []comm.Tensor) (all []int32) {
	for _, t := range list {
		all = append(all, comm.Values[int32](t)...)
	}
	return all
}

// TestKinds: every kind, on every executor, gives what its definition says, on teams that are some
// ranks in another order; a tensor for each block.
func TestKinds(t *testing.T) {
	kinds := []string{"all_reduce int32 sum shape 4x3", "all_gather int32 shape 4x3 axis 1",
		"reduce_scatter int32 max shape 6x2", "broadcast int32 shape 3x3 root 4",
		"reduce int32 min shape 5 root 4", "gather int32 shape 2x2 root 0",
		"scatter int32 shape 6x2 root 4", "all_to_all int32 shape 6x2 concat 1",
		"all_to_allv int32 shape 9x2 splits 1,2,3/0,5,1/2,2,2",
		"all_gatherv int32 shape 9x3 splits 1,0,5",
		"reduce_scatterv int32 sum shape 6 splits 1,0,5", "send_recv int32 shape 7", "barrier"}
	require.Len(t, kinds, len(collective.Kinds()))
	team := []int{4, 0, 3}
	for name, execute := range executors(t) {
		w, err := comm.New(5, execute, nil)
		require.NoError(t, err)
		for _, text := range kinds {
			c := parse(t, text)
			c.Team = team
			spec, err := c.Spec(5)
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(7, 7))
			all := make([]comm.Tensors, 3)
			inputs := make([][]int32, 3)
			for i := range all {
				all[i] = buffers(&c, i, 5, r)
				inputs[i] = flat(all[i].In)
			}
			outcomes, errs := together(3, func(i int) *comm.Handle {
				return w.Member(team[i], text, c).Post(context.Background(), all[i])
			})
			want, err := reference.Define(spec, inputs)
			require.NoError(t, err)
			for i := range all {
				require.NoError(t, errs[i], "%s %s", name, text)
				require.Equal(t, spec, outcomes[i].Executed.Spec)
				require.Equal(t, append([]int32{}, want[i]...), append([]int32{}, flat(all[i].Out)...),
					"%s %s place %d", name, text, i)
			}
		}
	}
}

// TestWhole: one tensor for all blocks, along any axis, is what the blocks are.
func TestWhole(t *testing.T) {
	w := world(t, 2)
	post := func(text string, t2 [2]comm.Tensors) {
		c := parse(t, text)
		_, errs := together(2, func(rank int) *comm.Handle {
			return w.Member(rank, text, c).Post(context.Background(), t2[rank])
		})
		require.NoError(t, errs[0], text)
		require.NoError(t, errs[1], text)
	}
	in := func(values ...int32) []comm.Tensor {
		return []comm.Tensor{comm.Of(collective.Shape{2, 2}, values...)}
	}
	wide := []comm.Tensor{comm.Of[int32](collective.Shape{2, 4})}
	blocks := []comm.Tensor{comm.Of[int32](collective.Shape{2, 2}),
		comm.Of[int32](collective.Shape{2, 2})}
	post("all_gather int32 shape 2x2 axis 1",
		[2]comm.Tensors{{In: in(1, 2, 3, 4), Out: wide}, {In: in(5, 6, 7, 8), Out: blocks}})
	require.Equal(t, []int32{1, 2, 5, 6, 3, 4, 7, 8}, flat(wide))
	require.Equal(t, []int32{1, 2, 3, 4, 5, 6, 7, 8}, flat(blocks))
	halves := [2][]comm.Tensor{{comm.Of[int32](collective.Shape{2, 1})},
		{comm.Of[int32](collective.Shape{2, 1})}}
	post("reduce_scatter int32 sum shape 2x2 axis 1",
		[2]comm.Tensors{{In: in(1, 2, 3, 4), Out: halves[0]}, {In: in(5, 6, 7, 8), Out: halves[1]}})
	require.Equal(t, [][]int32{{6, 10}, {8, 12}}, [][]int32{flat(halves[0]), flat(halves[1])})
}

// TestInPlace: the output of a gathering is the memory of which the input is a block.
func TestInPlace(t *testing.T) {
	w := world(t, 2)
	c := parse(t, "all_gather int32 shape 2 in_place")
	outs := []comm.Tensor{comm.Of[int32](collective.Shape{4}, 1, 2, 0, 0),
		comm.Of[int32](collective.Shape{4}, 0, 0, 3, 4)}
	_, errs := together(2, func(rank int) *comm.Handle {
		return w.Member(rank, "g", c).Post(context.Background(), comm.Tensors{
			In: []comm.Tensor{outs[rank].Rows(int64(2*rank), 2)}, Out: outs[rank : rank+1]})
	})
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, []int32{1, 2, 3, 4}, comm.Values[int32](outs[0]))
	require.Equal(t, []int32{1, 2, 3, 4}, comm.Values[int32](outs[1]))
}

// TestOrder: posts of a rank are carried out in their order, however the ranks' calls fall; the
// same buffers may be posted again before the first post has come to its end.
func TestOrder(t *testing.T) {
	w := world(t, 3)
	c := parse(t, "all_reduce int32 sum shape 1 in_place")
	var all sync.WaitGroup
	for rank := range 3 {
		all.Go(func() {
			x := comm.Of[int32](collective.Shape{1}, 1)
			m := w.Member(rank, "x", c)
			var last *comm.Handle
			for range 10 {
				last = m.Post(context.Background(), comm.Tensors{In: []comm.Tensor{x},
					Out: []comm.Tensor{x}})
			}
			_, err := last.Wait()
			require.NoError(t, err)
			require.Equal(t, []int32{59049}, comm.Values[int32](x)) // 3^10
		})
	}
	all.Wait()
}

// TestSideBySide: teams with names of their own do not meet.
func TestSideBySide(t *testing.T) {
	w := world(t, 4)
	var sums [4]comm.Tensor
	_, errs := together(4, func(rank int) *comm.Handle {
		sums[rank] = comm.Of[int32](collective.Shape{1})
		c := parse(t, "all_reduce int32 sum shape 1")
		c.Team = []int{rank % 2, rank%2 + 2}
		return w.Member(rank, fmt.Sprint("sum of ", c.Team), c).Post(context.Background(),
			comm.Tensors{In: []comm.Tensor{comm.Of(collective.Shape{1}, int32(rank))},
				Out: sums[rank : rank+1]})
	})
	require.NoError(t, errors.Join(errs...))
	for rank, want := range []int32{2, 4, 2, 4} {
		require.Equal(t, want, comm.Values[int32](sums[rank])[0])
	}
}

// TestDisabled: a disabled communication is skipped at once, by whoever posts it, and says so; a
// rank that has it enabled is told.
func TestDisabled(t *testing.T) {
	w := world(t, 2)
	c := parse(t, "reduce int32 sum shape 1 root 1 disabled")
	for rank := range 2 {
		h := w.Member(rank, "x", c).Post(context.Background(), comm.Tensors{})
		outcome, err := h.Wait() // nobody else has come
		require.NoError(t, err)
		require.Equal(t, comm.Outcome{Skipped: true}, outcome)
	}
	c = parse(t, "all_reduce int32 sum shape 1")
	off := c
	off.Disabled = true
	x := []comm.Tensor{comm.Of[int32](collective.Shape{1}, 3)}
	out := []comm.Tensor{comm.Of[int32](collective.Shape{1}, 9)}
	outcomes, errs := together(2, func(rank int) *comm.Handle {
		does := []collective.Communication{off, c}[rank]
		return w.Member(rank, "x", does).Post(context.Background(), comm.Tensors{In: x, Out: out})
	})
	require.NoError(t, errs[0])
	require.True(t, outcomes[0].Skipped)
	require.ErrorContains(t, errs[1], "differ in disabled: ")
	require.Equal(t, []int32{9}, flat(out))
}

// TestTensors: values come out as they went in, and of no other type.
func TestTensors(t *testing.T) {
	half := comm.Of(collective.Shape{2}, bfloat16(1.5), bfloat16(2))
	require.Equal(t, []dtype.BF16{bfloat16(1.5), bfloat16(2)}, comm.Values[dtype.BF16](half))
	require.Equal(t, []dtype.BF16{bfloat16(2)}, comm.Values[dtype.BF16](half.Rows(1, 1)))
	require.Panics(t, func() { comm.Values[float32](half) })
	require.Panics(t, func() { comm.Of(collective.Shape{2}, 1.0) })
}

func bfloat16(x float64) dtype.BF16 { return dtype.From[dtype.BF16](x) }
