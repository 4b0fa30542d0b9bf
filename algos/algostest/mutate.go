package algostest

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/schedule"
)

// mutatedRanks returns the largest number of ranks at which every step is damaged.
func mutatedRanks() int { return tier.Of(3, 6) }

// otherTurns is the number of turns in which every operator and type occurs.
const otherTurns = 12

// refusesDamage damages every step of a schedule, each in several ways, in its text. The result
// must be no schedule, or be refused by the proof, or compute the right result. Most must be
// refused, to show that damage was done.
func refusesDamage(t require.TestingT, a algos.Algorithm, kind collective.Kind, ranks int) {
	spec := specOf(kind, ranks, int64(2*ranks+1), ranks)
	s, err := a.Build(spec, algos.Options{})
	var unfit *algos.Unfit
	for turn := ranks + 1; errors.As(err, &unfit) && turn < ranks+otherTurns; turn++ {
		spec = specOf(kind, ranks, int64(2*ranks+1), turn)
		s, err = a.Build(spec, algos.Options{})
	}
	if errors.As(err, &unfit) {
		return
	}
	require.NoError(t, err)
	text := s.String()
	all := mutants(text, ranks)
	refused := 0
	for _, m := range all {
		damaged, err := schedule.Parse(m.text)
		if err != nil || schedule.Equal(s, damaged) {
			refused++
			continue
		}
		if _, violations := proof.Verify(damaged, proof.Options{}); len(violations) > 0 {
			refused++
			continue
		}
		require.True(t, right(t, m, damaged), "%s is proven and yet wrong:\n%s", m.what, m.text)
	}
	require.Greater(t, 3*refused, 2*len(all), "%d of %d damaged copies are refused:\n%s", refused,
		len(all), text)
}

// A mutant is a damaged text, and what was done to it.
type mutant struct{ what, text string }

// mutants returns all texts that differ from the given one in a single step: omitted, doubled,
// swapped with its successor, with another peer, or with another block.
func mutants(text string, ranks int) []mutant {
	lines := strings.Split(text, "\n")
	var list []mutant
	add := func(what string, at int, instead ...string) {
		damaged := append(append([]string(nil), lines[:at]...), instead...)
		rest := lines[at+1:]
		if what == "swapped" {
			rest = lines[at+2:]
		}
		damaged = append(damaged, rest...)
		list = append(list, mutant{fmt.Sprintf("line %d %s", at+1, what), strings.Join(damaged, "\n")})
	}
	for i, line := range lines {
		if !isStep(line) {
			continue
		}
		add("dropped", i)
		add("doubled", i, line, line)
		if next := lines[i+1]; isStep(next) && indent(next) == indent(line) && next != line {
			add("swapped", i, next, line)
		}
		if other := retarget(line, ranks); other != line {
			add("retargeted", i, other)
		}
		if other := reblock(line); other != line {
			add("reblocked", i, other)
		}
	}
	return list
}

// isStep reports whether a line of the text form is a step: indented further than lanes, no loop.
func isStep(line string) bool {
	return indent(line) >= 4 && !strings.HasPrefix(strings.TrimLeft(line, " "), "loop ")
}

// indent returns the number of leading spaces of a line.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// The first peer of a step, and the first block of a region.
var (
	peer  = regexp.MustCompile(`( to | from )(\d*)`)
	block = regexp.MustCompile(`\[(\d*)`)
)

// retarget makes the first peer of a step the next rank.
func retarget(line string, ranks int) string {
	at := peer.FindStringSubmatchIndex(line)
	if at == nil {
		return line
	}
	return line[:at[4]] + raised(line[at[4]:at[5]], line[at[5]:], ranks) + line[at[5]:]
}

// reblock makes the first region of a step begin one block later.
func reblock(line string) string {
	at := block.FindStringSubmatchIndex(line)
	if at == nil {
		return line
	}
	return line[:at[2]] + raised(line[at[2]:at[3]], line[at[3]:], 0) + line[at[3]:]
}

// raised returns one more than the number that begins an expression, modulo the ranks if modulo >
// 0. If the expression begins with a variable, the number is 0.
func raised(number, rest string, modulo int) string {
	n, _ := strconv.Atoi(number)
	if n++; modulo > 0 && number != "" {
		n %= modulo
	}
	if number == "" && !strings.HasPrefix(rest, "-") {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}
