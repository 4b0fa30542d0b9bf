package bounds

import (
	"math"
	"math/bits"

	"collsim/unit"
)

// A cutBound is the proof that so many bytes must cross certain links, in any schedule. Sums of
// bytes saturate at the largest int64.
//
// In time T a link of b bytes a second carries at most T·b, so T ≥ bytes/rate. In fact it has less
// time than T. A message that crosses the link takes a route of at least the latency lead from its
// sender to its receiver. If the links of the route carry the message in turn (FIFO), this link
// cannot begin before the latency of those in front has passed. It must end before T less its own
// latency and that of those behind. If they carry it all at once (fluid), it has left all of them
// at T less the latency of them all. Either way, all that the link carries falls into one window of
// length T − lead, the same for all messages. So T ≥ lead + bytes/rate, with the smallest lead of
// the links.
type cutBound struct {
	bytes int64
	rate  unit.Rate // of all the links together; unlimited if one of them is
	lead  unit.Time // the least latency of a route over one of the links
}

// noLinks returns a bound without links; over adds them.
func noLinks(bytes int64) cutBound { return cutBound{bytes: bytes, lead: unit.Forever} }

// over returns the bound with one more link.
func (c cutBound) over(rate unit.Rate, lead unit.Time) cutBound {
	c.rate = unit.Rate(sum(int64(c.rate), int64(rate)))
	c.lead = min(c.lead, lead)
	return c
}

// time returns ⌈bytes/rate⌉, without latency.
func (c cutBound) time() unit.Time {
	if c.bytes == 0 {
		return 0
	}
	return unit.Bytes(c.bytes).Over(c.rate)
}

// exceeds reports whether bytes/rate is larger than d's, exactly.
func (c cutBound) exceeds(d cutBound) bool {
	if c.bytes == 0 || c.rate == unit.Unlimited {
		return false
	}
	if d.bytes == 0 || d.rate == unit.Unlimited {
		return true
	}
	left, leftLow := bits.Mul64(uint64(c.bytes), uint64(d.rate))
	right, rightLow := bits.Mul64(uint64(d.bytes), uint64(c.rate))
	return left > right || left == right && leftLow > rightLow
}

// consider raises the bounds found so far to c, and reports whether c has the largest bytes/rate
// yet. Only then it calls describe for the name of the links.
func (s *search) consider(c cutBound, describe func() string) bool {
	if c.bytes == 0 {
		return false
	}
	s.withLead = max(s.withLead, plus(c.time(), c.lead))
	if !c.exceeds(s.best) {
		return false
	}
	s.best = c
	s.found.Cut = describe()
	return true
}

// sum returns a + b, at most the largest int64. REQUIRES: a, b ≥ 0.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// product returns a·b, at most the largest int64. REQUIRES: a, b ≥ 0.
func product(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// plus returns a + b, at most Forever.
func plus(a, b unit.Time) unit.Time { return min(a+b, unit.Forever) }
