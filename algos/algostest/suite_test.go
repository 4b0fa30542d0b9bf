package algostest

import (
	"testing"

	"collsim/algos"
	"collsim/collective"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

// good is an all_gather on which bad ones are built: everybody sends to everybody in turn.
func good() algos.Algorithm {
	return algos.Algorithm{
		Name:  "in-turn",
		Kinds: []collective.Kind{collective.AllGather},
		Group: func(ranks int) schedule.Group { return schedule.Group{int32(ranks)} },
		Lane: func(l *algos.Lane) {
			l.Keep(l.Chunk(l.Rank))
			for i := 1; i < l.Ranks; i++ {
				l.Send(l.Rank+i, l.Chunk(l.Rank))
				l.Recv(l.Rank-i, l.Chunk(l.Rank-i))
			}
		},
		Cost: func(ranks, _ int) algos.Cost {
			return algos.Cost{Alpha: ranks - 1, Rounds: []algos.Round{{Times: ranks - 1, Blocks: 1}}}
		},
	}
}

func TestSuiteAcceptsAnybodysAlgorithm(t *testing.T) { Test(t, good()) }

// TestSuiteRefuses asserts that the suite complains about what is wrong with an algorithm.
func TestSuiteRefuses(t *testing.T) {
	for _, c := range []struct {
		name, complaint string
		spoil           func(*algos.Algorithm)
	}{
		{"a message to the wrong rank", "deadlock", func(a *algos.Algorithm) {
			a.Lane = func(l *algos.Lane) {
				l.Keep(l.Chunk(l.Rank))
				for i := 1; i < l.Ranks; i++ {
					l.Send(l.Rank+1, l.Chunk(l.Rank))
					l.Recv(l.Rank-i, l.Chunk(l.Rank-i))
				}
			}
		}},
		{"a block that is never kept", "never written", func(a *algos.Algorithm) {
			a.Lane = func(l *algos.Lane) {
				for i := 1; i < l.Ranks; i++ {
					l.Send(l.Rank+i, l.In(0))
					l.Recv(l.Rank-i, l.Out(l.Rank-i))
				}
			}
		}},
		{"a group where ranks differ", "the group changes a step", func(a *algos.Algorithm) {
			a.Lane = func(l *algos.Lane) {
				l.Keep(l.Chunk(l.Rank))
				for i := 1; i < l.Ranks; i++ {
					l.Round(i - 1 + l.Rank)
					l.Send(l.Rank+i, l.Chunk(l.Rank))
					l.Recv(l.Rank-i, l.Chunk(l.Rank-i))
				}
			}
		}},
		{"fewer rounds than there are", "rounds", func(a *algos.Algorithm) {
			a.Cost = func(_, _ int) algos.Cost {
				return algos.Cost{Alpha: 1, Rounds: []algos.Round{{Times: 1, Blocks: 1}}}
			}
		}},
		{"a cost that is too low", "takes longer than its published cost", func(a *algos.Algorithm) {
			a.Cost = func(ranks, _ int) algos.Cost {
				return algos.Cost{Alpha: 1, Rounds: []algos.Round{{Times: ranks - 1, Blocks: 1}}}
			}
		}},
		{"a cost that is too high", "does not take its published cost", func(a *algos.Algorithm) {
			a.Cost = func(ranks, _ int) algos.Cost {
				return algos.Cost{Alpha: ranks, Rounds: []algos.Round{{Times: ranks - 1, Blocks: 1}}}
			}
		}},
		{"misuse of a lane", "its own peer", func(a *algos.Algorithm) {
			a.Lane = func(l *algos.Lane) { l.Send(l.Rank, l.In(0)) }
		}},
	} {
		a := good()
		c.spoil(&a)
		trial := trial{spec: specOf(collective.AllGather, 4, 64, 0)}
		complaint := holds(func(t require.TestingT) { conform(t, a, trial) })
		require.Contains(t, complaint, c.complaint, c.name)
	}
}

// TestMutants asserts what is done to a text.
func TestMutants(t *testing.T) {
	const text = "rank *\n  lane 0\n    loop 2\n" +
		"      send in[i] to 3-i @i\n      recv from -i into out @0\n"
	var got []string
	for _, m := range mutants(text, 4) {
		got = append(got, m.what)
	}
	require.Equal(t, []string{"line 4 dropped", "line 4 doubled", "line 4 swapped",
		"line 4 retargeted", "line 4 reblocked", "line 5 dropped", "line 5 doubled",
		"line 5 retargeted"}, got)
	require.Equal(t, " send in[i] to 0-i @i", retarget(" send in[i] to 3-i @i", 4))
	require.Equal(t, " recv from 1-i into out", retarget(" recv from -i into out", 4))
	require.Equal(t, " recv from 1+i into out", retarget(" recv from i into out", 4))
	require.Equal(t, " send in[1+i] to 3", reblock(" send in[i] to 3"))
	require.Equal(t, " send in[3-i] to 3", reblock(" send in[2-i] to 3"))
}
