package symmetric_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/comm/symmetric"
	"collsim/dtype"
)

var background = context.Background()

// upTo is 0…n−1.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// together runs what every rank does, each in a goroutine of its own, and returns their errors.
func together(ranks int, do func(rank int) error) []error {
	errs := make([]error, ranks)
	var all sync.WaitGroup
	for rank := range ranks {
		all.Go(func() { errs[rank] = do(rank) })
	}
	all.Wait()
	return errs
}

// on enables the group of all ranks and runs what each of its members does.
func on(ranks int, do func(m *symmetric.Member) error) []error {
	var w symmetric.World
	return together(ranks, func(rank int) error {
		m, err := w.Enable(background, "tp", upTo(ranks), symmetric.Self{Rank: rank, Host: "a"})
		if err != nil {
			return err
		}
		return do(m)
	})
}

// with is on, in a buffer of that size on every rank.
func with(ranks int, size int64, do func(m *symmetric.Member, b *symmetric.Buffer) error) []error {
	return on(ranks, func(m *symmetric.Member) error {
		b, err := shared(m, size)
		if err != nil {
			return err
		}
		return do(m, b)
	})
}

func shared(m *symmetric.Member, size int64) (*symmetric.Buffer, error) {
	a, err := m.Alloc(size)
	if err != nil {
		return nil, err
	}
	return a.Rendezvous(background)
}

// requireAll: every rank is told the same, of which this is a part.
func requireAll(t *testing.T, errs []error, want string) {
	t.Helper()
	for _, err := range errs {
		require.ErrorContains(t, err, want)
		require.Equal(t, errs[0].Error(), err.Error())
	}
}

// TestAllGather: three calls in one workspace, by pulling and by pushing, from 1 to 8 ranks. All
// that is read is what was written, and nothing races.
func TestAllGather(t *testing.T) {
	for ranks := 1; ranks <= 8; ranks++ {
		for _, push := range []bool{false, true} {
			errs := on(ranks, func(m *symmetric.Member) error {
				for call := range 3 {
					b, err := m.Workspace(background, symmetric.Use{Size: int64(4 * ranks), Call: "gather"})
					if err != nil {
						return err
					}
					got, err := gather(m, b, push, byte(call))
					for q := range ranks {
						want := []byte{byte(q), byte(call), 7, byte(q)}
						if err == nil && !slices.Equal(want, got[4*q:4*q+4]) {
							err = fmt.Errorf("rank %d call %d: %v", m.Rank, call, got)
						}
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			require.NoError(t, errors.Join(errs...), "%d ranks, push %v", ranks, push)
		}
	}
}

// gather gathers four bytes of every rank.
func gather(m *symmetric.Member, b *symmetric.Buffer, push bool, call byte) ([]byte, error) {
	mine := []byte{byte(m.Rank), call, 7, byte(m.Rank)}
	got := make([]byte, 4*m.Ranks)
	var errs []error
	if push {
		for q := range m.Ranks {
			errs = append(errs, b.Put(q, int64(4*m.Rank), mine))
		}
		errs = append(errs, b.Barrier(background, 0), b.Get(m.Rank, 0, got))
	} else {
		errs = append(errs, b.Put(m.Rank, 0, mine), b.Barrier(background, 0))
		for q := range m.Ranks {
			errs = append(errs, b.Get(q, 0, got[4*q:4*q+4]))
		}
	}
	return got, errors.Join(append(errs, b.Barrier(background, m.Ranks%2))...)
}

// TestMeetingsThatDiffer: what ranks do not agree on is told to all of them, with all ranks and all
// values, whoever comes first.
func TestMeetingsThatDiffer(t *testing.T) {
	workspace := func(use symmetric.Use) func(*symmetric.Member) error {
		return func(m *symmetric.Member) error {
			_, err := m.Workspace(background, use)
			return err
		}
	}
	buffer := func(size int64, before ...int64) func(*symmetric.Member) error {
		return func(m *symmetric.Member) error {
			for _, n := range before {
				if _, err := m.Alloc(n); err != nil {
					return err
				}
			}
			_, err := shared(m, size)
			return err
		}
	}
	sum := symmetric.Use{Size: 64, Call: "all_reduce float32 sum shape 16"}
	most := symmetric.Use{Size: 64, Call: "all_reduce float32 max shape 16"}
	for _, c := range []struct {
		want string
		does []func(*symmetric.Member) error
	}{
		{"ranks differ in size: 64 of ranks 0, 1, 3; 128 of rank 2",
			[]func(*symmetric.Member) error{buffer(64), buffer(64), buffer(128), buffer(64)}},
		{"ranks differ in offset: 0 of rank 0; 16 of rank 1; 32 of rank 2",
			[]func(*symmetric.Member) error{buffer(8), buffer(8, 1), buffer(8, 17)}},
		{"ranks differ in what it is for: \"all_reduce float32 sum shape 16\" of ranks 0…2; " +
			"\"all_reduce float32 max shape 16\" of rank 3",
			[]func(*symmetric.Member) error{workspace(sum), workspace(sum), workspace(sum),
				workspace(most)}},
		{"ranks differ in size: 64 of rank 0; 65 of rank 1", []func(*symmetric.Member) error{
			workspace(symmetric.Use{Size: 64}), workspace(symmetric.Use{Size: 65})}},
		{"ranks differ in call: workspace of rank 0; rendezvous of rank 1",
			[]func(*symmetric.Member) error{workspace(sum), buffer(64)}},
		{"rank 1 cannot take part: the workspace has 0 bytes, and cannot grow to 64 while a graph is " +
			"captured", []func(*symmetric.Member) error{workspace(sum),
			workspace(symmetric.Use{Size: 64, Call: sum.Call, Capturing: true})}},
		{"rank 0 cannot take part: an allocation of 0 bytes: 1 to 1073741824 are expected",
			[]func(*symmetric.Member) error{workspace(symmetric.Use{}), workspace(sum)}},
	} {
		errs := on(len(c.does), func(m *symmetric.Member) error {
			err := c.does[m.Rank](m)
			if _, again := m.Workspace(background, sum); again != nil { // the group goes on
				return again
			}
			if _, again := shared(m, 8); again != nil {
				return again
			}
			return err
		})
		requireAll(t, errs, c.want)
		var mismatch *symmetric.Mismatch
		require.Equal(t, strings.Contains(c.want, "differ"), errors.As(errs[0], &mismatch))
	}
}

// TestEnable: hosts where one is needed, mechanisms, and who may be in a group.
func TestEnable(t *testing.T) {
	enable := func(list ...symmetric.Self) []error {
		var w symmetric.World
		return together(len(list), func(rank int) error {
			list[rank].Rank = rank
			_, err := w.Enable(background, "tp", upTo(len(list)), list[rank])
			return err
		})
	}
	a, b := symmetric.Self{Host: "a"}, symmetric.Self{Host: "b"}
	requireAll(t, enable(a, a, b, a),
		`tp of ranks 0…3: ranks differ in host, where peer-mapping needs one: "a" of `+
			`ranks 0, 1, 3; "b" of rank 2`)
	for _, m := range []symmetric.Mechanism{symmetric.Fabric, symmetric.Network} {
		a.Mechanism, b.Mechanism = m, m
		require.NoError(t, errors.Join(enable(a, b)...))
	}
	a.Mechanism = symmetric.Fabric
	requireAll(t, enable(a, b), "ranks differ in mechanism: fabric of rank 0; network of rank 1")
	b.Mechanism = 77
	requireAll(t, enable(a, b), "rank 1 cannot take part: Mechanism(77) is none")

	var w symmetric.World
	for want, ranks := range map[string][]int{
		`group "tp": 0 ranks: 1 to 512 are expected`:   {},
		`group "tp": rank -1 is none`:                  {0, -1},
		`group "tp": rank 0 is none of ranks 1, 3`:     {3, 1},
		`group "tp": rank 1 is named twice`:            {1, 0, 1},
		`group "tp": 513 ranks: 1 to 512 are expected`: upTo(513),
	} {
		_, err := w.Enable(background, "tp", ranks, symmetric.Self{})
		require.EqualError(t, err, ""+want)
	}
	_, err := w.Enable(background, "", []int{0}, symmetric.Self{})
	require.EqualError(t, err, `group "": a name is expected`)
}

// TestIdentity: enabling again gives the same member, in any order of the ranks; the same name with
// other ranks is another group with another workspace, whose ranks count from 0.
func TestIdentity(t *testing.T) {
	var w symmetric.World
	all, pair := []int{4, 7, 9}, []int{9, 4}
	errs := together(10, func(rank int) error {
		self := symmetric.Self{Rank: rank}
		if !slices.Contains(all, rank) {
			return nil
		}
		m, err := w.Enable(background, "tp", all, self)
		if err != nil {
			return err
		}
		again, err := w.Enable(background, "tp", []int{9, 4, 7}, self)
		if err != nil || again != m || m.Rank != slices.Index(all, rank) {
			return fmt.Errorf("rank %d is %+v, then %+v: %w", rank, m, again, err)
		}
		if _, err := w.Enable(background, "tp", all, symmetric.Self{Rank: rank, Host: "z"}); err == nil {
			return errors.New("another host")
		}
		if _, err := m.Workspace(background, symmetric.Use{Size: 8}); err != nil || rank == 7 {
			return err
		}
		two, err := w.Enable(background, "tp", pair, self)
		if err != nil || two == m || two.Ranks != 2 {
			return fmt.Errorf("rank %d is %+v: %w", rank, two, err)
		}
		b, err := two.Workspace(background, symmetric.Use{Size: 16})
		if err == nil && b.Size != 16 {
			err = fmt.Errorf("a workspace of %d bytes", b.Size)
		}
		return err
	})
	require.NoError(t, errors.Join(errs...))
}

// TestWorkspace: it is the same memory until somebody asks for more, and then it is fresh; all
// ranks meet for it every time; what is captured takes what there is.
func TestWorkspace(t *testing.T) {
	errs := on(2, func(m *symmetric.Member) error {
		var got []string
		for i, size := range []int64{8, 4, 8, 24, 16} {
			b, err := m.Workspace(background, symmetric.Use{Size: size, Capturing: i == 4})
			if err != nil {
				return err
			}
			was := make([]byte, 1)
			err = errors.Join(b.Get(m.Rank, 0, was), b.Put(m.Rank, 0, []byte{byte(10 + i)}))
			if err != nil {
				return err
			}
			got = append(got, fmt.Sprintf("%d:%d", b.Size, was[0]))
		}
		if want := "8:0 8:10 8:11 24:0 24:13"; strings.Join(got, " ") != want {
			return fmt.Errorf("%v, want %v", got, want)
		}
		_, err := m.Workspace(background, symmetric.Use{Size: 25, Capturing: true})
		if want := "the workspace has 24 bytes, and cannot grow to 25 while a graph is captured"; err ==
			nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("%w, want %s", err, want)
		}
		_, err = m.Workspace(background, symmetric.Use{Size: 25})
		return err
	})
	require.NoError(t, errors.Join(errs...))
}

// TestReduce: by hand, in each type one, and what a switch does not do.
func TestReduce(t *testing.T) {
	errs := with(3, 64, func(m *symmetric.Member, b *symmetric.Buffer) error {
		mine := make([]byte, 16)
		dtype.Put(mine[:8], []float32{float32(m.Rank) + 0.5, -float32(m.Rank)})
		dtype.Put(mine[8:], []dtype.BF16{dtype.From[dtype.BF16]([]float64{256, 1, 1}[m.Rank])})
		if err := errors.Join(b.Put(m.Rank, 16, mine), b.Barrier(background, 1)); err != nil {
			return err
		}
		sum, least, most := make([]float32, 2), make([]float32, 2), make([]float32, 2)
		half := make([]dtype.BF16, 1)
		if err := errors.Join(symmetric.Reduce(b, collective.Sum, 16, sum),
			symmetric.Reduce(b, collective.Min, 16, least), symmetric.Reduce(b, collective.Max, 16, most),
			symmetric.Reduce(b, collective.Sum, 24, half)); err != nil {
			return err
		}
		// 0.5 + 1.5 + 2.5, 0 − 1 − 2; bfloat16 has 8 bits: 256 + 1 is a tie, and goes to 256.
		got := fmt.Sprint(sum, least, most, half)
		if want := "[4.5 -3] [0.5 -2] [2.5 -0] [256]"; got != want {
			return fmt.Errorf("%s, want %s", got, want)
		}
		for _, op := range []collective.Op{0, collective.Prod, collective.Avg, 99} {
			if symmetric.Reduce(b, op, 16, sum) == nil {
				return fmt.Errorf("a switch does %v", op)
			}
		}
		err := symmetric.Reduce(b, collective.Sum, 18, sum)
		if want := fmt.Sprintf("tp of ranks 0…2: rank %d: reduce: 18 is no multiple of the 4 "+
			"bytes of an element", m.Rank); err == nil || err.Error() != want {
			return fmt.Errorf("%w, want %s", err, want)
		}
		// Two-shot: the first rank stores what it has, and all find it.
		if err := b.Barrier(background, 0); err != nil {
			return err
		}
		if m.Rank == 0 {
			if err := b.Store(60, []byte{1, 2, 3, 4}); err != nil {
				return err
			}
		}
		found := make([]byte, 4)
		err = errors.Join(b.Barrier(background, 0), b.Get(m.Rank, 60, found))
		if err == nil && !slices.Equal(found, []byte{1, 2, 3, 4}) {
			err = fmt.Errorf("%v", found)
		}
		return err
	})
	require.NoError(t, errors.Join(errs...))
	far := func(by symmetric.Mechanism) []error {
		var w symmetric.World
		return together(2, func(rank int) error {
			m, err := w.Enable(background, "far", upTo(2), symmetric.Self{Rank: rank,
				Host: fmt.Sprint(rank), Mechanism: by})
			if err != nil {
				return err
			}
			b, err := shared(m, 8)
			if err == nil && rank == 0 {
				err = b.Store(0, []byte{1})
			}
			return err
		})
	}
	require.EqualError(t, far(symmetric.Network)[0], "far of ranks 0, 1: rank 0: store: "+
		"nothing multicasts over network")
	require.NoError(t, errors.Join(far(symmetric.Fabric)...))
}

// TestArguments: what is none is told to its rank, and nothing has happened to the others.
func TestArguments(t *testing.T) {
	errs := with(2, 8, func(m *symmetric.Member, b *symmetric.Buffer) error {
		bad := map[string]error{
			"put: rank 2 is none of 0…1":            b.Put(2, 0, nil),
			"get: rank -1 is none of 0…1":           b.Get(-1, 0, nil),
			"put: 1 bytes at 8":                     b.Put(0, 8, []byte{1}),
			"get: 9 bytes at 0: the buffer has 8":   b.Get(0, 0, make([]byte, 9)),
			"put: 0 bytes at -1":                    b.Put(0, -1, nil),
			"store: 2 bytes at 92233720368547":      b.Store(math.MaxInt64, []byte{1, 2}),
			"is its own peer":                       b.Signal(background, m.Rank, 0),
			"signal: rank 7 is none":                b.Signal(background, 7, 0),
			"wait: rank 7 is none":                  b.Wait(background, 7, 0),
			"signal: channel 256 is none of 0…255":  b.Signal(background, 1-m.Rank, 256),
			"wait: channel -1 is none of 0…255":     b.Wait(background, 1-m.Rank, -1),
			"barrier: channel 256 is none of 0…255": b.Barrier(background, 256),
		}
		for _, size := range []int64{math.MinInt64, -1, 0, symmetric.MaxSize + 1, math.MaxInt64} {
			_, bad[fmt.Sprintf("an allocation of %d bytes: 1 to", size)] = m.Alloc(size)
		}
		for want, err := range bad {
			if err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%w, want %s", err, want)
			}
		}
		return errors.Join(b.Put(m.Rank, 8, nil), b.Barrier(background, 255))
	})
	require.NoError(t, errors.Join(errs...))
}
