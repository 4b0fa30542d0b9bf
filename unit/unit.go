// Package unit provides exact arithmetic of time, size and rate: Time in whole picoseconds, Bytes,
// and Rate in bytes per second, all int64. Two engineers who follow the same semantics must get the
// same integers. So nothing here is a float, and the only division of time in the whole program is
// Bytes.Over, which rounds up.
//
// User input ("64 MiB", "1.5 us", "100 Gbit/s") is parsed exactly: a decimal fraction that the unit
// cannot hold is an error and is never rounded. The output of String parses back to the same value.
//
// The package knows nothing of networks, devices or scenarios, and imports none of our packages.
package unit

import (
	"math"
	"math/bits"
)

// Time is a moment or a duration in picoseconds. At 400 Gbit/s a byte takes 20 ps, so a picosecond
// is fine enough for any wire, and int64 holds 106 days of them.
type Time int64

// Durations. Forever is "never": later than anything that happens, yet so small that the sum of two
// does not overflow.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
	Forever     Time = math.MaxInt64 / 4
)

// Bytes is a size or an offset in bytes.
type Bytes int64

// Sizes: binary ones as memory and messages use them, decimal ones as rates and disks do.
const (
	Byte Bytes = 1
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
	TiB        = 1024 * GiB
	KB         = 1000 * Byte
	MB         = 1000 * KB
	GB         = 1000 * MB
)

// Rate is a rate in bytes per second, at least 1.
type Rate int64

// Unlimited is the rate at which everything takes no time: 1/γ, κ and the copy rate of an ideal
// device.
const Unlimited Rate = math.MaxInt64

// Over returns the time that b bytes take at rate r: ⌈b · 10¹² / r⌉ picoseconds, computed in 128
// bits. It is 0 for no bytes and for the unlimited rate, and saturates at Forever.
//
// REQUIRES: b ≥ 0, r > 0; it panics otherwise, since every input is checked where it is read.
func (b Bytes) Over(r Rate) Time {
	if b < 0 || r <= 0 {
		panic("unit: Over needs a size that is not negative and a positive rate")
	}
	if r == Unlimited {
		return 0
	}
	hi, lo := bits.Mul64(uint64(b), uint64(Second))
	if hi >= uint64(r) { // the quotient would need more than 64 bits
		return Forever
	}
	quo, rem := bits.Div64(hi, lo, uint64(r))
	if quo >= uint64(Forever) {
		return Forever
	}
	if rem > 0 {
		quo++
	}
	return Time(quo)
}

// Share is a part of a whole in millionths: "50 %" is 500000. It may exceed the whole.
type Share int64

const whole Share = 1_000_000

// Times returns the share s of rate r, rounded down. A share of Unlimited is Unlimited, and a
// result too large for a Rate becomes Unlimited, too. The result is 0 if it is below 1: a caller
// must refuse that.
//
// REQUIRES: r > 0, s ≥ 0; it panics otherwise.
func (r Rate) Times(s Share) Rate {
	if r <= 0 || s < 0 {
		panic("unit: Times needs a positive rate and a share that is not negative")
	}
	if r == Unlimited {
		return Unlimited
	}
	hi, lo := bits.Mul64(uint64(r), uint64(s))
	if hi >= uint64(whole) {
		return Unlimited
	}
	quo, _ := bits.Div64(hi, lo, uint64(whole))
	return Rate(min(quo, uint64(Unlimited)))
}
