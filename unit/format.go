package unit

import (
	"strconv"
	"strings"
)

// unlimited is the spelling of Unlimited.
const unlimited = "unlimited"

// String formats a time exactly, in the largest unit that leaves at least 1 before the point, with
// at least three digits from nanoseconds up: "0 s", "500 ns", "1.00 us", "9.40924096 ms". ParseTime
// gives the same time back, except for "never" (Forever and later) and negative times, which no
// user can ask for.
func (t Time) String() string {
	switch {
	case t == 0:
		return "0 s"
	case t < 0:
		return "-" + decimal(-uint64(t), timeNames[:], 3) // two's complement: -MinInt64 too
	case t >= Forever:
		return "never"
	}
	return decimal(uint64(t), timeNames[:], 3)
}

// String formats a size exactly, as the smallest whole number of a unit: "64 MiB", "64 MB",
// "1000001 B". ParseBytes gives the same size back, if it is not negative.
func (b Bytes) String() string {
	best := multiple{"B", 1, 1}
	for _, p := range prefixes {
		if p.name != "k" && b != 0 && int64(b)%p.num == 0 && p.num > best.num {
			best = multiple{p.name + "B", p.num, 1}
		}
	}
	return strconv.FormatInt(int64(b)/best.num, 10) + " " + best.name
}

// String formats a rate exactly, in the largest decimal unit of bytes per second that leaves at
// least 1 before the point: "12.5 GB/s". ParseRate gives the same rate back.
func (r Rate) String() string {
	if r == Unlimited {
		return unlimited
	}
	if r < 0 {
		return "-" + decimal(-uint64(r), rateNames[:], 1)
	}
	return decimal(uint64(r), rateNames[:], 1)
}

// String formats a share exactly, in percent: "12.5 %". ParseShare gives it back.
func (s Share) String() string {
	return fixed(uint64(s), 4, 1) + " %"
}

// Each unit is a thousand times the one before; times stop at seconds, rates at terabytes.
var (
	timeNames = [...]string{"ps", "ns", "us", "ms", "s"}
	rateNames = [...]string{"B/s", "KB/s", "MB/s", "GB/s", "TB/s"}
)

// decimal formats v, which counts the first unit, in the largest unit that it fills. It is exact,
// and has at least so many digits where a point is needed or possible.
func decimal(v uint64, names []string, digits int) string {
	i, scale := 0, uint64(1)
	for i+1 < len(names) && v/1000 >= scale {
		i, scale = i+1, scale*1000
	}
	return fixed(v, 3*i, digits) + " " + names[i]
}

// fixed formats v · 10^-places exactly. It drops zeros at the end of the fraction, except those
// that make up the number of digits wanted.
func fixed(v uint64, places, digits int) string {
	s := strconv.FormatUint(v, 10)
	if places == 0 {
		return s
	}
	if len(s) <= places {
		s = strings.Repeat("0", places+1-len(s)) + s
	}
	head, tail := s[:len(s)-places], s[len(s)-places:]
	keep := max(len(strings.TrimRight(tail, "0")), min(digits-len(head), places))
	if keep <= 0 {
		return head
	}
	return head + "." + tail[:keep]
}
