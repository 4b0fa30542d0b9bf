package chakra

import (
	"fmt"
	"slices"

	"collsim/internal/prose"
)

// tiling is a set of teams that are disjoint and have all ranks: a group of one of them, and what
// it is on the others.
type tiling struct {
	teams [][]int // each in ascending order
	of    []int   // by rank: its team
	at    []int   // by rank: its place in that
}

// shifted returns the tiling that consists of shifted copies of a group. There is at most one, as
// the first rank that no copy has yet must be the first of the next. So a group along axes of a
// mesh gives the teams along these axes, whatever the others are.
func shifted(group []int, ranks int) (*tiling, error) {
	t := &tiling{of: slices.Repeat([]int{-1}, ranks), at: make([]int, ranks)}
	for first := range ranks {
		if t.of[first] >= 0 {
			continue
		}
		team := make([]int, len(group))
		for i, rank := range group {
			team[i] = first + rank - group[0]
			if team[i] >= ranks || t.of[team[i]] >= 0 {
				return nil, fmt.Errorf("ranks %s do not tile %d: their copy from rank %d on has %d, which %s",
					prose.Ranks(group), ranks, first, team[i],
					map[bool]string{true: "there is not", false: "is in another"}[team[i] >= ranks])
			}
		}
		t.add(team)
	}
	if first := t.teams[t.of[group[0]]][0]; first != group[0] {
		return nil, fmt.Errorf("ranks %s do not tile %d: among their copies one begins at rank %d",
			prose.Ranks(group), ranks, first)
	}
	return t, nil
}

// named returns the tiling of teams that the user names.
func named(teams [][]int, ranks int) (*tiling, error) {
	t := &tiling{of: slices.Repeat([]int{-1}, ranks), at: make([]int, ranks)}
	for _, team := range teams {
		if len(team) == 0 { // all
			team = make([]int, ranks)
			for i := range team {
				team[i] = i
			}
		}
		team = slices.Sorted(slices.Values(team))
		if len(team) != len(slices.Concat(teams...))/len(teams) && len(teams) > 1 {
			return nil, fmt.Errorf("teams of %d ranks and of others; equal ones are expected", len(team))
		}
		t.add(team)
	}
	if missing := slices.Index(t.of, -1); missing >= 0 {
		return nil, fmt.Errorf("rank %d is in no team", missing)
	}
	return t, nil
}

func (t *tiling) add(team []int) {
	for i, rank := range team {
		t.of[rank], t.at[rank] = len(t.teams), i
	}
	t.teams = append(t.teams, team)
}

// String describes it: "8 teams of 4, as 0 8 16 24".
func (t *tiling) String() string {
	if len(t.teams) == 1 {
		return "all ranks"
	}
	return fmt.Sprintf("%d teams of %d, as %s", len(t.teams), len(t.teams[0]), prose.Ranks(t.teams[0]))
}
