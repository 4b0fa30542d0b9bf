package algos

import (
	"fmt"
	"strconv"
)

// A radixFold reduces any number of ranks to q, a power of the radix, by runs of neighbours. The
// first rank of a run takes part; the others hand it their data, and get the result at the end.
type radixFold struct{ ranks, q, radix, digits int }

// radixFoldOf returns the fold of a number of ranks.
func radixFoldOf(ranks, radix int) radixFold {
	f := radixFold{ranks: ranks, q: 1, radix: radix}
	for ; f.q*radix <= ranks; f.digits++ {
		f.q *= radix
	}
	return f
}

// first returns the first rank of a run; for q, the number of ranks.
func (f radixFold) first(run int) int {
	return run*(f.ranks/f.q) + min(run, f.ranks%f.q)
}

// run returns the run of a rank.
func (f radixFold) run(rank int) int {
	long := f.ranks % f.q * (f.ranks/f.q + 1) // ranks in runs that are one longer
	if rank < long {
		return rank / (f.ranks/f.q + 1)
	}
	return f.ranks%f.q + (rank-long)/(f.ranks/f.q)
}

// folded returns the longest run but for its first rank.
func (f radixFold) folded() int { return (f.ranks - 1) / f.q }

// members lists the runs that exchange with one in the round of digit weight d, in rank order.
func (f radixFold) members(run, d int) (runs []int) {
	for i := range f.radix {
		runs = append(runs, run-run/d%f.radix*d+i*d)
	}
	return runs
}

// others lists the first ranks of the runs that one exchanges with in the round of digit weight d.
func (f radixFold) others(run, d int) (ranks []int) {
	for _, other := range f.members(run, d) {
		if other != run {
			ranks = append(ranks, f.first(other))
		}
	}
	return ranks
}

// foldRadix adds up a vector in every run of ranks, has the first of each do the rest, by the
// number of its run, in so many rounds from one on, and sends the result to all of the run.
func foldRadix(l *Lane, f radixFold, rounds int, rest func(l *Lane, f radixFold, run, round int)) {
	run := f.run(l.Rank)
	first, end, last := f.first(run), f.first(run+1), f.folded()+rounds
	if l.Rank > first {
		l.Round(l.Rank - first - 1)
		l.Send(first, l.All())
		l.Round(last)
		l.Recv(first, l.All())
		return
	}
	for r := first + 1; r < end; r++ {
		l.Round(r - first - 1)
		if f.q == 1 && r == end-1 {
			l.Completes()
		}
		l.Accumulate(r, l.All())
	}
	rest(l, f, run, f.folded())
	if to := span(first+1, end); len(to) > 0 {
		l.Round(last)
		l.Combine(nil, to, l.Local(l.All()))
	}
}

// span lists the numbers from one up to before another.
func span(from, end int) (list []int) {
	for ; from < end; from++ {
		list = append(list, from)
	}
	return list
}

// radixParam returns the parameter of algorithms with a radix.
func radixParam(about string) []Param {
	return []Param{{Name: "radix", Value: "4", Tries: []string{"4", "8"}, About: about}}
}

// radixOf reads a radix.
func radixOf(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 || n > MaxCopies {
		return 0, fmt.Errorf("radix = %q: a whole number from 2 to %d is expected", text, MaxCopies)
	}
	return n, nil
}
