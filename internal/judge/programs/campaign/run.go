package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A summary counts the results of many programs.
type summary struct {
	programs, refused, lowered, public, compared, broken int
	reasons, acted, kinds                                map[string]int
}

// newSummary returns an empty summary.
func newSummary() *summary {
	return &summary{reasons: map[string]int{}, acted: map[string]int{}, kinds: map[string]int{}}
}

// add counts a result.
func (s *summary) add(r *result) {
	s.programs++
	s.lowered += r.lowered
	s.public += r.public
	s.compared += r.compared
	s.broken += len(r.failures)
	if r.refused != "" {
		s.refused++
		s.reasons[reason(r.refused)]++
	}
	for _, pass := range slices.Sorted(maps.Keys(r.acted)) {
		s.acted[pass] += r.acted[pass]
	}
	for _, f := range r.failures {
		s.kinds[f.kind]++
	}
}

// reason returns the text of a refusal, without names and numbers.
func reason(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if parts := strings.SplitN(text, ": ", 4); len(parts) == 4 {
		text = parts[3]
	}
	text = strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return '#'
		}
		return c
	}, text)
	return text[:min(len(text), 60)]
}

// String formats the counts, with a line for each pass and each kind of failure.
func (s *summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d programs (%d refused), %d lowerings (%d as the command does), values of %d "+
		"compared: %d broken", s.programs, s.refused, s.lowered, s.public, s.compared, s.broken)
	b.WriteString(lines("passes that did something", s.acted))
	b.WriteString(lines("broken", s.kinds))
	return b.String()
}

// lines formats counts, one a line.
func lines(what string, of map[string]int) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "\n  %s: %d %s", what, of[key], key)
	}
	return b.String()
}

// run tries programs, starting at an index, until there are n lowerings, on all processors. It
// passes their results on in order.
func (c *contest) run(first, n int, each func(done int, r *result)) *summary {
	const batch = 64
	sum := newSummary()
	results := make([]result, batch)
	for from := first; sum.lowered < n; from += batch {
		next := make(chan int)
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for i := range next {
					results[i] = c.try(from + i)
				}
			})
		}
		for i := range batch {
			next <- i
		}
		close(next)
		workers.Wait()
		for i := range results {
			if sum.lowered >= n {
				break
			}
			sum.add(&results[i])
			each(sum.lowered, &results[i])
		}
	}
	return sum
}
