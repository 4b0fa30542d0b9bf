package model

import "slices"

// FairFlow is a flow that shares links with others: an operand of FairRates.
type FairFlow struct {
	Links []int32 // the links that it crosses at once, one as often as it crosses it
	Cap   uint64  // the highest rate that it can use; NoCap where nothing but links limits it
}

// FairRates returns the max-min fair rate of every flow. A link has a capacity, or NoCap where it
// has no limit; rates and capacities are integers of one unit.
//
// It is the definition of max-min fairness here, by progressive filling (D. Bertsekas and R.
// Gallager, Data Networks, 2nd edition, 1992, section 6.5.2). The rates of all flows rise together
// until a link is saturated. That link is the bottleneck of its flows: they keep the rate, its fair
// share, and the others rise on. A flow's cap counts as a link that no other flow crosses.
//
// A fair share is the capacity left over the flows left, rounded down. Links of one fair share are
// saturated together, so no order of links or flows changes a rate. FairRates costs flows times
// rounds at every call. MaxMin computes the same rates after each change, from the changed links.
func FairRates(capacities []uint64, flows []FairFlow) []uint64 {
	left := slices.Clone(capacities)          // by link: what flows with a rate have not taken
	rising := make([]uint64, len(capacities)) // by link: how often flows without a rate cross it
	rates := make([]uint64, len(flows))       // final for all flows but those of unfixed
	unfixed := make([]int, 0, len(flows))     // flows that no saturated link holds back yet
	limited := func(link int32) bool { return capacities[link] != NoCap }
	for i, f := range flows {
		unfixed = append(unfixed, i)
		for _, link := range f.Links {
			rising[link]++
		}
	}
	fairShare := func(f FairFlow) uint64 { // the rate at which its cap or the first link stops it
		share := f.Cap
		for _, link := range f.Links {
			if limited(link) {
				share = min(share, left[link]/rising[link])
			}
		}
		return share
	}
	for len(unfixed) > 0 {
		lowest := NoCap // the fair share of the next bottleneck links
		for _, i := range unfixed {
			rates[i] = fairShare(flows[i])
			lowest = min(lowest, rates[i])
		}
		unfixed = slices.DeleteFunc(unfixed, func(i int) bool {
			if rates[i] > lowest {
				return false
			}
			for _, link := range flows[i].Links {
				rising[link]--
				if limited(link) {
					left[link] -= lowest
				}
			}
			return true
		})
	}
	return rates
}
