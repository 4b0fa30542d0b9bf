package scenarios

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"collsim/unit"
)

// Arrival is [arrival]: how much later than they would some ranks begin, at random.
type Arrival struct {
	Spread unit.Time // 0: all arrive as [[topology.rank]] says
	Law    ArrivalLaw
}

// ArrivalLaw is the distribution of arrivals.
type ArrivalLaw uint8

// The laws. Of Uniform the spread is the upper end, of Exponential the mean.
const (
	Uniform ArrivalLaw = iota
	Exponential
)

func arrivalLaws() []string { return []string{"uniform", "exponential"} }

// String returns the spelling in a scenario.
func (l ArrivalLaw) String() string { return arrivalLaws()[l] }

func arrivalKeys() []Key {
	return []Key{
		{Path: "arrival.spread", kind: aTime, max: maxWait, Default: `"0 s"`, Example: `"50 us"`,
			Sweep: true, Doc: "Every rank arrives by a random time later than it would: up to so much, or " +
				"with the exponential law so much on average. The seed draws them.",
			to: set(func(a *Arrival, t unit.Time) { a.Spread = t })},
		{Path: "arrival.law", kind: aChoice, Values: arrivalLaws(), Default: `"uniform"`,
			Example: `"exponential"`, Sweep: true,
			Doc:  "How these times are distributed; exponential has few ranks that are very late.",
			idle: "nothing is drawn without arrival.spread",
			to:   pick(arrivalLaws(), func(a *Arrival, to ArrivalLaw) { a.Law = to })},
	}
}

// Starts returns when each rank begins: as [[topology.rank]] says, and what [arrival] adds; nil for
// 0 of all ranks. Of one seed a rank draws the same share of the spread, whatever that is.
func (p *Point) Starts() []unit.Time {
	if p.Arrival.Spread == 0 {
		return p.Topology.Starts
	}
	starts := make([]unit.Time, p.Topology.Ranks)
	copy(starts, p.Topology.Starts)
	key := [32]byte{31: 'a'} // no other data are drawn with it
	binary.LittleEndian.PutUint64(key[:], uint64(p.Seed))
	draw := rand.New(rand.NewChaCha8(key))
	for rank := range starts {
		starts[rank] = min(starts[rank]+p.Arrival.draw(draw), unit.Time(2*maxWait))
	}
	return starts
}

// draw draws a time.
func (a Arrival) draw(draw *rand.Rand) unit.Time {
	whole, part := uint64(0), draw.Uint64()
	if a.Law == Exponential {
		whole, part = exponential(draw)
	}
	hi, _ := bits.Mul64(uint64(a.Spread), part)
	return unit.Time(whole)*a.Spread + unit.Time(hi)
}

// exponential draws a number of the exponential distribution of mean 1, as a whole part and a part
// of 2⁻⁶⁴, by comparisons alone, so that all processors draw the same (von Neumann, Various
// techniques used in connection with random digits, 1951): a uniform number is kept if the run of
// falling numbers that it begins has an odd length; otherwise the whole part grows.
func exponential(draw *rand.Rand) (whole, part uint64) {
	for ; ; whole++ {
		part = draw.Uint64()
		length, last := 1, part
		for next := draw.Uint64(); next < last; next = draw.Uint64() {
			length, last = length+1, next
		}
		if length%2 == 1 {
			return whole, part
		}
	}
}
