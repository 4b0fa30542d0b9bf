package calibrate

import "math"

// starts returns the indices of the sizes at which ranges begin.
func (f *rangeFit) starts() ([]int, error) {
	costs, points, err := f.costs()
	if err != nil {
		return nil, err
	}
	n := len(f.seen)
	best, fewest := []int{0}, math.Inf(1)
	divisions := cheapest(costs, min(f.most, max(1, n/leastSizes)))
	for k, division := range divisions {
		if math.IsInf(division.cost, 1) {
			continue
		}
		scale := max(division.cost/points, leastError)
		figures := float64(rangeFigures*(k+1) - 1)
		criterion := float64(2*points*math.Log(scale)) + float64(figures*math.Log(points))
		if criterion < fewest {
			best, fewest = division.starts, criterion
		}
	}
	return best, nil
}

// costs returns the weighted sums of absolute relative errors. Entry [from][to] is that of a fit to
// the sizes from the one index to before the other; it is infinite for too few sizes. It also
// returns the sum of all weights.
func (f *rangeFit) costs() (costs [][]float64, points float64, err error) {
	n := len(f.seen)
	costs = square(n + 1)
	for from := range costs {
		for to := range costs[from] {
			costs[from][to] = math.Inf(1)
		}
	}
	all, err := f.samples(f.seen, f.global)
	if err != nil {
		return nil, 0, err
	}
	noise := f.options.noise(all)
	var rows regression
	first := make([]int, n+1) // rows of the sizes before index i
	for i := range f.seen {
		samples, err := f.samples(f.seen[i:i+1], f.global)
		if err != nil {
			return nil, 0, err
		}
		for j := range samples {
			weight := weight(&samples[j], noise)
			rows.add(&samples[j], weight)
			points += weight
		}
		first[i+1] = len(rows.y)
	}
	for from := range n {
		for to := from + 1; to <= n; to++ {
			if to-from < leastSizes && to-from < n {
				continue
			}
			some := regression{x: rows.x[first[from]:first[to]], y: rows.y[first[from]:first[to]]}
			costs[from][to] = 0
			for _, e := range some.errors(some.absolute()) {
				costs[from][to] += e
			}
		}
	}
	return costs, points, nil
}

// A division splits the sizes into ranges, at a cost.
type division struct {
	cost   float64
	starts []int
}

// cheapest returns the cheapest divisions into 1, 2, … up to most ranges, by dynamic programming.
func cheapest(costs [][]float64, most int) []division {
	n := len(costs) - 1
	reach := make([]division, n+1) // by end index, with the current number of ranges
	for to := range reach {
		reach[to] = division{cost: costs[0][to], starts: []int{0}}
	}
	all := []division{reach[n]}
	for len(all) < most {
		next := make([]division, n+1)
		for to := range next {
			next[to].cost = math.Inf(1)
			for last := range to {
				if cost := reach[last].cost + costs[last][to]; cost < next[to].cost {
					starts := reach[last].starts
					next[to] = division{cost, append(starts[:len(starts):len(starts)], last)}
				}
			}
		}
		reach = next
		all = append(all, reach[n])
	}
	return all
}
