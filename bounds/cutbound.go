package bounds

import (
	"math"
	"math/bits"

	"collsim/unit"
)

// claim says that so many bytes must cross certain links, however the collective is done: bytes,
// or else more, so a sum too large for an int64 is the largest one.
//
// In time T a link of b bytes a second carries at most T·b, so T ≥ bytes/rate. It has less than T,
// whether messages go one after the other or all at once: a message that crosses it takes a route
// of at least the latency lead from its sender to its receiver, which may be any two ranks. If the
// links of the route carry it in turn (FIFO), this one cannot begin before the latency of those in
// front has passed, nor end later than T less its own latency and that of those behind; if they
// carry it all at once (fluid), it is through on all of them at T less the latency of them all.
// Either way all that the link carries falls into one window of length T − lead, the same for all
// messages, so T ≥ lead + bytes/rate, with the smallest lead of the links.
type cutBound struct {
	bytes int64
	rate  unit.Rate // of all the links together; unlimited if one of them is
	lead  unit.Time // the least latency of a route over one of the links
}

// noClaim is a claim about no links yet.
func noLinks(bytes int64) cutBound { return cutBound{bytes: bytes, lead: unit.Forever} }

// over is the claim with a further link.
func (c cutBound) over(rate unit.Rate, lead unit.Time) cutBound {
	c.rate = unit.Rate(sum(int64(c.rate), int64(rate)))
	c.lead = min(c.lead, lead)
	return c
}

// time is ⌈bytes/rate⌉, without latency.
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

// claim takes note of a claim, and reports whether it is the best so far; describe is asked for
// its links only then.
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

// sum is a + b, at most the largest int64, for a and b of at least 0.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// product is a·b, at most the largest int64, for a and b of at least 0.
func product(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// plus is a + b, at most Forever.
func plus(a, b unit.Time) unit.Time { return min(a+b, unit.Forever) }
