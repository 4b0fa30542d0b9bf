package symmetric_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/comm/symmetric"
)

// script is what a rank does: "put 1" and "get 1" of byte 0 of rank 1, "signal 1:2" on channel 2,
// "wait 1:2", "barrier:2", "store"; "next" asks for the workspace again, "end" ends the context.
type script []string

// execute executes a script for each rank. All have come to their end when it returns.
func run(scripts ...script) []error {
	return on(len(scripts), func(m *symmetric.Member) error {
		ctx, end := context.WithCancel(background)
		defer end()
		calls := 0
		next := func() (*symmetric.Buffer, error) {
			calls++
			return m.Workspace(ctx, symmetric.Use{Size: 4, Call: fmt.Sprintf("call %d", calls)})
		}
		b, err := next()
		if err != nil {
			return err
		}
		for _, line := range scripts[m.Rank] {
			var peer, channel int
			var word string
			_, _ = fmt.Sscanf(line, "%s %d:%d", &word, &peer, &channel)
			_, _ = fmt.Sscanf(line, "barrier:%d", &channel)
			switch word {
			case "put":
				err = b.Put(peer, 0, []byte{1})
			case "get":
				err = b.Get(peer, 0, make([]byte, 1))
			case "store":
				err = b.Store(0, []byte{1})
			case "signal":
				err = b.Signal(ctx, peer, channel)
			case "wait":
				err = b.Wait(ctx, peer, channel)
			case "next":
				b, err = next()
			case "end":
				end()
			default:
				err = b.Barrier(ctx, channel)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestRaces: operations on the same byte in no order are found whatever the goroutines do, and told
// to all ranks with both operations; those that a signal orders are none.
func TestRaces(t *testing.T) {
	for _, c := range []struct {
		name    string
		scripts []script
		want    string // empty: there is none
	}{
		{"a put and a get", []script{{"put 1"}, {"get 1"}},
			"race on bytes 0 to 0 of rank 1: the put of rank 0 (step 0, in call 1) and the get of rank 1 " +
				"(step 0, in call 1) have no signal or barrier between them"},
		{"a signal orders them", []script{{"put 1", "signal 1:0"}, {"wait 0:0", "get 1"}}, ""},
		{"and what follows the signal is behind it", []script{{"signal 1:0", "put 1"},
			{"wait 0:0", "get 1"}}, "the put of rank 0 (step 1, in call 1) and the get of rank 1 (step 1"},
		{"two gets do not race", []script{{"get 1"}, {"get 1"}}, ""},
		{"two puts do", []script{{"put 0"}, {"put 0"}}, "race on bytes 0 to 0 of rank 0"},
		{"in memories of different ranks they do not", []script{{"put 0"}, {"put 1"}}, ""},
		{"a store is a put to all", []script{{"store"}, {"put 1"}}, "the store of rank 0"},
		{"and races with who reads", []script{{"store"}, {"get 1"}}, "the store of rank 0"},
		{"order passes through a third", []script{{"put 2", "signal 1:0"},
			{"wait 0:0", "signal 2:5"}, {"wait 1:5", "get 2"}}, ""},
		{"but not back: a pad that was emptied orders nothing", []script{
			{"get 1", "signal 1:0"}, {"put 1", "wait 0:0"}}, "the get of rank 0"},
		{"two calls in one workspace without a barrier", []script{
			{"put 0", "barrier:0", "get 1", "next", "put 0"},
			{"put 1", "barrier:0", "get 0", "next", "put 1"}},
			"(step 3, in call 2)"}, // put, barrier, get; a meeting is no step
		{"and with one", []script{
			{"put 0", "barrier:0", "get 1", "barrier:1", "next", "put 0"},
			{"put 1", "barrier:0", "get 0", "barrier:1", "next", "put 1"}}, ""},
	} {
		errs := run(c.scripts...)
		if c.want == "" {
			require.NoError(t, errors.Join(errs...), c.name)
			continue
		}
		var race *symmetric.Race
		require.ErrorAs(t, errors.Join(errs...), &race, c.name)
		require.ErrorContains(t, race, c.want, c.name)
		for _, err := range errs { // who was done before has heard of nothing
			if err != nil {
				require.Equal(t, race, err, c.name)
			}
		}
	}
}

// TestNoneHangs: whoever waits for what does not come hears who is missing when its context ends,
// and so do all others that wait for anything, with the same words.
func TestNoneHangs(t *testing.T) {
	for _, c := range []struct {
		name    string
		scripts []script
		want    string
	}{
		{"no signal", []script{{"end", "wait 1:3"}, {"barrier:0"}},
			"wait of rank 0 on channel 3: no signal of rank 1"},
		{"one stays away from a barrier", []script{{"wait 1:5", "end", "barrier:2"},
			{"signal 0:2", "signal 0:5", "wait 0:5"}, {"wait 0:7"}, {"wait 0:7"}},
			"barrier of rank 0 on channel 2: no signal of ranks 2, 3"},
		{"channels differ", []script{{"end", "barrier:1"}, {"barrier:2"}},
			"barrier of rank 0 on channel 1: no signal of rank 1"},
		{"a pad holds one signal", []script{{"signal 1:0", "end", "signal 1:0"}, {"wait 0:1"}},
			"signal of rank 0 on channel 0: rank 1 has not awaited the signal before"},
		{"they wait in a circle", []script{{"wait 2:0", "signal 1:0"}, {"wait 0:0", "signal 2:0"},
			{"end", "wait 1:0", "signal 0:0"}}, "wait of rank 2 on channel 0: no signal of rank 1"},
		{"one calls again, another is at a barrier", []script{{"next"}, {"end", "barrier:0"}},
			"barrier of rank 1 on channel 0: no signal of rank 0"},
		{"one is at a barrier, another calls again", []script{{"barrier:0"}, {"end", "next"}},
			`group "tp of ranks 0, 1#0.1": 1 of 2 members have joined (rank 1); missing rank 0`},
	} {
		errs := run(c.scripts...)
		requireAll(t, errs, "")
		require.ErrorContains(t, errs[0], c.want+": context canceled", c.name)
		require.ErrorIs(t, errs[0], context.Canceled, c.name)
	}
}

// TestMissing: who does not come to a meeting is named, in the numbers of the world, also to those
// who come late. A group that has failed is enabled anew.
func TestMissing(t *testing.T) {
	var w symmetric.World
	ranks := []int{3, 5, 8}
	ended, cancel := context.WithCancel(background)
	cancel()
	members := make([]*symmetric.Member, 3)
	enable := func(ctx context.Context) func(i int) error {
		return func(i int) (err error) {
			members[i], err = w.Enable(ctx, "tp", ranks, symmetric.Self{Rank: ranks[i]})
			return err
		}
	}
	first := enable(ended)(0)
	require.EqualError(t, first, `group "tp of ranks 3, 5, 8#0": 1 of 3 members have `+
		`joined (rank 3 of the world); missing rank 5, 8 of the world: context canceled`)
	for _, i := range []int{2, 1} {
		require.EqualError(t, enable(background)(i), first.Error())
	}
	require.NoError(t, errors.Join(together(3, enable(background))...))
	_, err := members[1].Workspace(ended, symmetric.Use{Size: 8})
	require.ErrorContains(t, err, "missing rank 3, 8 of the world")
	_, again := members[2].Workspace(background, symmetric.Use{Size: 8})
	require.Equal(t, err, again)

	require.NoError(t, errors.Join(together(3, enable(background))...))
	require.NoError(t, errors.Join(together(3, func(i int) error {
		_, err := members[i].Workspace(background, symmetric.Use{Size: 8})
		return err
	})...))
}

// event is a line of a script, in the order in which all of them can happen.
type event struct {
	rank, peer, channel int
	word                string
	after               map[int]bool // events before it, by number
}

// draw makes up what three ranks do: a signal finds its pad empty and a wait finds it full, so that
// nobody hangs. What happens before what is written down event by event, without clocks.
func draw(rng *rand.Rand) []event {
	var list []event
	pads, last := map[[3]int]int{}, map[int]int{}
	words := []string{"put", "get", "get", "signal", "signal", "wait", "wait", "wait"}
	for size := 4 + rng.IntN(12); len(list) < size; {
		e := event{rng.IntN(3), rng.IntN(3), rng.IntN(2), words[rng.IntN(8)], map[int]bool{}}
		number, before := len(list), []int(nil)
		switch pad := [3]int{e.rank, e.peer, e.channel}; e.word {
		case "signal":
			if _, full := pads[pad]; full || e.rank == e.peer {
				continue
			}
			pads[pad] = number
		case "wait":
			from := [3]int{e.peer, e.rank, e.channel}
			signal, full := pads[from]
			if !full {
				continue
			}
			delete(pads, from)
			before = append(before, signal)
		}
		if own, ok := last[e.rank]; ok {
			before = append(before, own)
		}
		for _, b := range before {
			e.after[b] = true
			maps.Copy(e.after, list[b].after)
		}
		last[e.rank] = number
		list = append(list, e)
	}
	return list
}

// TestRacesAreThoseOfTheDefinition: clocks find a race exactly where two operations of two ranks on
// the same memory, one of them a put, are in no order by the transitive closure of what orders.
func TestRacesAreThoseOfTheDefinition(t *testing.T) {
	found := 0
	for seed := range uint64(400) {
		list, scripts, want := draw(rand.New(rand.NewPCG(seed, 17))), make([]script, 3), false
		for i, e := range list {
			scripts[e.rank] = append(scripts[e.rank], fmt.Sprintf("%s %d:%d", e.word, e.peer, e.channel))
			for j, o := range list[:i] {
				touch := func(e event) bool { return e.word == "put" || e.word == "get" }
				want = want || touch(e) && touch(o) && e.peer == o.peer && e.rank != o.rank &&
					(e.word == "put" || o.word == "put") && !e.after[j]
			}
		}
		err := errors.Join(run(scripts...)...)
		var race *symmetric.Race
		require.Equal(t, want, errors.As(err, &race), "seed %d: %v: %v", seed, scripts, err)
		if want {
			found++
		} else {
			require.NoError(t, err)
		}
	}
	require.Greater(t, found, 50)
	require.Less(t, found, 350)
}
