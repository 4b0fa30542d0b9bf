package host

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/schedule"
)

// TestScripts: gets, puts, silent ones, packets, multimem, events, slices and lanes give the bits
// that they must, with as few slots as will do, and once more without a pause.
func TestScripts(t *testing.T) {
	h := open(t, Config{})
	agreeOnScripts(t, h)
}

// TestTypes: all formats and operators, in place and not, and with the other mean.
func TestTypes(t *testing.T) {
	h := open(t, Config{})
	for _, typ := range dtype.All() {
		for _, op := range collective.OpsOf(typ) {
			spec := collective.Spec{Kind: collective.AllReduce, Op: op, Type: typ, Ranks: 4,
				Count: 53, InPlace: typ.IsFloat()}
			if op == collective.PremulSum {
				spec.Factor = 3
			}
			s := ringWith(t, spec)
			agree(t, h, s, hw.Env{Slots: 2, Iterations: 2})
		}
		if typ != dtype.Bool {
			agree(t, h, ringWith(t, collective.Spec{Kind: collective.AllReduce, Op: collective.Avg,
				Avg: collective.AvgPost, Type: typ, Ranks: 3, Count: 53}), hw.Env{Slots: 2})
		}
	}
}

// TestTeams: teams execute beside each other, each with the mean of its own ranks, and who is in
// none does nothing.
func TestTeams(t *testing.T) {
	s := teams(t)
	for _, transport := range []Transport{Goroutines, Unix} {
		agree(t, open(t, Config{Transport: transport}), s, hw.Env{Slots: 2, Repetitions: 2})
	}
}

func teams(t testing.TB) *schedule.Schedule {
	mean := collective.Spec{Kind: collective.AllReduce, Op: collective.Avg, Type: dtype.Float32,
		Ranks: 3, Count: 31}
	three := ringWith(t, mean)
	mean.Ranks, mean.Count = 2, 8
	two := ringWith(t, mean)
	s, err := schedule.Compose("", 9, nil, []schedule.Part{{Ranks: []int{0, 2, 4}, Schedule: three},
		{Ranks: []int{8, 7}, Schedule: two},
		{Ranks: []int{5, 3, 1}, Schedule: three}})
	require.NoError(t, err)
	return s
}

// TestRefused: what no host can do is refused, and says what is expected.
func TestRefused(t *testing.T) {
	announce := func([]Rendezvous) {}
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Transport: 9}, "Transport(9) is none of the transports"},
		{Config{Transport: Unix, Hosts: []string{"a"}},
			"transport unix: several machines need tcp"},
		{Config{Listen: "x:1"}, `transport goroutines does not listen at "x:1": only tcp does`},
		{Config{Transport: TCP, Hosts: []string{"a"}, Announce: announce},
			"hosts [a]: an address to listen at is needed that they can reach"},
		{Config{Transport: TCP, Hosts: []string{"a"}, Listen: "0.0.0.0:7000", Announce: announce},
			"hosts [a]: an address to listen at is needed that they can reach"},
		{Config{Transport: TCP, Hosts: []string{"a"}, Listen: "x:1"},
			"hosts [a]: somebody must be told what to start there"},
	} {
		_, err := New(c.config)
		require.EqualError(t, err, c.want)
	}
	for _, transport := range []Transport{Goroutines, Unix, TCP} {
		got, err := ParseTransport(transport.String())
		require.NoError(t, err)
		require.Equal(t, transport, got)
	}
	_, err := ParseTransport("pigeons")
	require.EqualError(t, err,
		`transport "pigeons": "goroutines", "unix" or "tcp" is expected`)
}

// TestHosts: ranks are spread evenly, the first on the first machine.
func TestHosts(t *testing.T) {
	c := Config{Hosts: []string{"", "b", "c"}}
	var on []string
	for rank := range 7 {
		on = append(on, c.hostOf(rank, 7))
	}
	require.Equal(t, []string{"", "", "", "b", "b", "c", "c"}, on)
}

// TestUnproven: schedules that no proof would let through are ended, or refused by name.
func TestUnproven(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"    recv from 1 into out @0\n", "    nop\n",
			"rank 1 lane 0: step: malformed: to rank 0 lane 0: 1 more sent than are received"},
		{"    send in to 1 @0\n", "    nop\n",
			"rank 1 lane 0: step: malformed: from rank 0 lane 0: 1 more awaited than are sent"},
	} {
		text := strings.Replace(swap, c.from, c.to, 1)
		require.NotEqual(t, swap, text)
		s, err := schedule.Parse(text)
		require.NoError(t, err)
		for _, transport := range []Transport{Goroutines, Unix} {
			h := open(t, Config{Transport: transport})
			_, err := h.Run(t.Context(), &hw.Job{Schedule: s, Inputs: randomInputs(s, 1),
				Env: hw.Env{Timeout: time.Minute}})
			require.EqualError(t, err, c.want)
		}
	}
}

const swap = `schedule swap
collective send_recv float32
ranks 2
count 4
rank 0
  lane 0
    send in to 1 @0
    recv from 1 into out @0
rank 1
  lane 0
    send in to 0 @0
    recv from 0 into out @0
`

// TestTimeline: a trace has the tracks and the intervals that the program has, each ring message,
// and fits the fastest repetition.
func TestTimeline(t *testing.T) {
	h := open(t, Config{})
	r := agree(t, h, ringOf(t, 4, 4096, dtype.Float32),
		hw.Env{Warmup: 1, Repetitions: 5, Trace: true})
	checkTimeline(t, r)
	require.Zero(t, r.Skew)
	require.Equal(t, "goroutines", r.RanOn.Transport)
}

func checkTimeline(t *testing.T, r *hw.Result) {
	t.Helper()
	require.Len(t, r.Repetitions, 5)
	require.NoError(t, r.Trace.Validate())
	require.Len(t, r.Trace.Tracks, 4)
	require.Len(t, r.Trace.Messages, 24)
	for rank := range int32(4) {
		var names []string
		for _, i := range r.Trace.On(rank) {
			names = append(names, i.Name())
			require.EqualValues(t, 4096, i.Bytes)
		}
		require.Equal(t, []string{"send", "recvReduceSend", "recvReduceSend", "recvReduceCopySend",
			"recvCopySend", "recvCopySend", "recv"}, names)
	}
	for _, m := range r.Trace.Messages {
		require.Equal(t, (m.From+1)%4, m.To)
		require.Equal(t, m.FromStep+1, m.ToStep)
	}
	fastest := r.Repetitions[r.Fastest()]
	require.LessOrEqual(t, r.Trace.Finish(0), fastest.End[0])
	require.GreaterOrEqual(t, r.Trace.On(0)[0].Ready, fastest.Start[0])
	for _, rep := range r.Repetitions {
		require.Positive(t, rep.Time)
	}
}
