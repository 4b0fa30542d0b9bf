package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A summary counts the results of many schedules.
type summary struct {
	tried, skipped, right, explored, given, disagree int
	kinds                                            map[string]int
}

// add counts a result.
func (s *summary) add(r *result) {
	s.tried++
	s.given += r.given
	if r.skipped {
		s.skipped++
	}
	if r.right {
		s.right++
	}
	if r.explored > 0 {
		s.explored++
	}
	if r.why != "" {
		s.disagree++
		s.kinds[r.kind]++
	}
}

// String formats the counts, with a line for each kind of disagreement.
func (s *summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d schedules: %d not judged, %d right, %d wrong; ", s.tried, s.skipped,
		s.right, s.tried-s.skipped-s.right)
	fmt.Fprintf(&b, "%d explored whole (%d given up); %d disagreements", s.explored, s.given,
		s.disagree)
	for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
		fmt.Fprintf(&b, "\n  %d %s", s.kinds[kind], kind)
	}
	return b.String()
}

// run tries n schedules, starting at an index, on all processors, and passes their results on in
// order.
func (c *contest) run(first, n int, each func(done int, r *result)) *summary {
	const batch = 256
	sum := &summary{kinds: map[string]int{}}
	results := make([]result, batch)
	for from := 0; from < n; from += batch {
		size := min(batch, n-from)
		next := make(chan int)
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for i := range next {
					results[i] = c.try(first + from + i)
				}
			})
		}
		for i := range size {
			next <- i
		}
		close(next)
		workers.Wait()
		for i := range results[:size] {
			sum.add(&results[i])
			each(from+i+1, &results[i])
		}
	}
	return sum
}
