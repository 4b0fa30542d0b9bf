package hw

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// pair is an exchange of two ranks: each sends its vector and adds what comes.
const pair = `schedule pair
collective all_reduce float32 sum
ranks 2
count 3
rank 0
  lane 0
    send in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recvReduceCopy from 0, in into out @0
`

func parsed(t *testing.T) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(pair)
	require.NoError(t, err)
	return s
}

func TestCheck(t *testing.T) {
	s := parsed(t)
	good := [][]byte{make([]byte, 12), make([]byte, 12)}
	env, err := (&Job{Schedule: s, Inputs: good}).Check()
	require.NoError(t, err)
	require.Equal(t, Env{Repetitions: 1, Iterations: 1, Timeout: DefaultTimeout}, env)
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{}, "no schedule"},
		{Job{Schedule: s, Inputs: good[:1]}, "inputs of 1 ranks: 2 are expected"},
		{Job{Schedule: s, Inputs: [][]byte{good[0], good[1][:11]}},
			"rank 1 has 11 bytes of input: 12 are expected"},
		{Job{Schedule: s, Inputs: good, Env: Env{Repetitions: -1}},
			"-1 repetitions: at least 0 is expected"},
		{Job{Schedule: s, Inputs: good, Env: Env{Warmup: -2}},
			"-2 warm-up repetitions: at least 0 is expected"},
		{Job{Schedule: s, Inputs: good, Env: Env{Iterations: -3}},
			"-3 iterations: at least 0 is expected"},
		{Job{Schedule: s, Inputs: good, Env: Env{Slots: -4}},
			"-4 slots: at least 0 is expected"},
		{Job{Schedule: s, Inputs: good, Env: Env{Timeout: -5}},
			"-5 nanoseconds of timeout: at least 0 is expected"},
	} {
		_, err := c.job.Check()
		require.EqualError(t, err, c.want)
	}
}

// The quartiles of 1 2 4 8 are the medians 1.5 of 1 2 and 6 of 4 8; of 1 2 4 8 9 the halves share
// the 4.
func TestMedian(t *testing.T) {
	for _, c := range []struct {
		times          []unit.Time
		median, spread unit.Time
		fastest        int
	}{
		{nil, 0, 0, 0},
		{[]unit.Time{7}, 7, 0, 0},
		{[]unit.Time{80, 10, 40, 20}, 30, 60 - 15, 1},
		{[]unit.Time{8, 9, 4, 1, 2}, 4, 8 - 2, 3},
	} {
		var r Result
		for _, at := range c.times {
			r.Repetitions = append(r.Repetitions, Repetition{Time: at})
		}
		median, spread := r.Median()
		require.Equal(t, []unit.Time{c.median, c.spread}, []unit.Time{median, spread}, "%v", c.times)
		require.Equal(t, c.fastest, r.Fastest())
	}
}

func TestMeasure(t *testing.T) {
	r, origin := Measure([]unit.Time{105, 100}, []unit.Time{130, 120})
	require.Equal(t, unit.Time(100), origin)
	require.Equal(t, Repetition{Start: []unit.Time{5, 0}, End: []unit.Time{30, 20}, Time: 30}, r)
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		e    Error
		want string
	}{
		{Error{Call: "read", Code: "EOF", Rank: 3, Lane: -1, Step: -1, Text: "x"},
			"rank 3: read: EOF: x"},
		{Error{Call: "MPI_Isend", Code: "MPI_ERR_COMM", Rank: 0, Lane: 1, Step: 2},
			"rank 0 lane 1 step 2: MPI_Isend: MPI_ERR_COMM"},
		{Error{Call: "listen", Code: "EACCES", Rank: -1, Lane: -1, Step: -1}, "listen: EACCES"},
	} {
		require.EqualError(t, &c.e, c.want)
		require.NoError(t, errors.Unwrap(&c.e))
	}
}

// TestArithmetic: of every type and operator, that of package dtype.
func TestArithmetic(t *testing.T) {
	for _, typ := range dtype.All() {
		for _, op := range collective.OpsOf(typ) {
			a := ArithmeticOf(&collective.Spec{Kind: collective.AllReduce, Op: op, Type: typ, Ranks: 2,
				Count: 1, Factor: 2})
			require.Equal(t, typ.Width(), a.Width)
			dst, src, out := Memory(int64(a.Width)), Memory(int64(a.Width)), make([]byte, a.Width)
			one := bytesOf(typ, 1)
			a.Load(dst, bytesOf(typ, 3))
			a.Load(src, one)
			a.Combine(dst, src)
			a.Store(out, dst)
			want := map[collective.Op]float64{collective.Sum: 4, collective.Avg: 4, collective.PremulSum: 4,
				collective.Prod: 3, collective.Min: 1, collective.Max: 3, collective.And: 1,
				collective.Or: 3, collective.Xor: 2}[op]
			if typ == dtype.Bool { // of true and true
				want = map[collective.Op]float64{collective.And: 1, collective.Or: 1}[op]
			}
			require.Equal(t, bytesOf(typ, want), out, "%v of %v", op, typ)
			if op == collective.Avg || op == collective.PremulSum {
				a.Scale(dst)
				a.Store(out, dst)
				scaled := map[collective.Op]float64{collective.Avg: 2, collective.PremulSum: 8}[op]
				require.Equal(t, bytesOf(typ, scaled), out, "%v of %v", op, typ)
			}
		}
	}
	none := ArithmeticOf(&collective.Spec{Kind: collective.Barrier, Ranks: 2})
	require.Zero(t, none.Width)
	none.Combine(nil, nil)
}

// bytesOf is a small whole number, little-endian.
func bytesOf(typ dtype.Type, x float64) []byte {
	put := map[dtype.Type]func(float64) []byte{
		dtype.Float64: put[float64], dtype.Float32: put[float32], dtype.Float16: put[dtype.F16],
		dtype.BFloat16: put[dtype.BF16], dtype.Float8E4M3: put[dtype.E4M3],
		dtype.Float8E5M2: put[dtype.E5M2], dtype.Int8: put[int8], dtype.Int16: put[int16],
		dtype.Int32: put[int32], dtype.Int64: put[int64], dtype.Uint8: put[uint8],
		dtype.Uint16: put[uint16], dtype.Uint32: put[uint32], dtype.Uint64: put[uint64],
		dtype.Bool: put[dtype.B8], dtype.Complex64: put[float32], dtype.Complex128: put[float64],
	}[typ]
	return bytes.Repeat(put(x), typ.Components()) // complex numbers of twice the same
}

func put[T dtype.Number](x float64) []byte {
	b := make([]byte, dtype.Of[T]().Width())
	dtype.Put(b, []T{dtype.From[T](x)})
	return b
}

func TestHere(t *testing.T) {
	on := Here("host", "tcp")
	require.NotEmpty(t, on.CPU)
	require.Positive(t, on.Cores)
	on = RanOn{Executor: "host", Transport: "tcp", CPU: "Xeon", Cores: 2, OS: "linux/amd64",
		Go: "go1.26", Hosts: []string{"a", "b"}}
	require.Equal(t, "host (tcp) on 2 cores of Xeon, linux/amd64, go1.26, hosts a b", on.String())
}
