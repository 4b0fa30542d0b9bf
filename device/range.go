package device

import (
	"fmt"
	"math/bits"

	"collsim/unit"
)

// Message holds the cost of a message besides the links that it crosses. It may depend on the size,
// since libraries change their protocol with it. Parameterized LogP (Kielmann, Bal and Verstoep,
// 2000) and SimGrid's SMPI (its factors of latency and of bandwidth) have such figures by size,
// too.
type Message struct {
	// Latency adds to the latencies of the message's links. It keeps no lane busy.
	Latency unit.Time
	// Efficiency is the share of data in what crosses the links, in millionths: flags and padding
	// are the rest. 0 is all.
	Efficiency unit.Share
}

// Range holds the figures of messages of at most UpTo bytes, and more than the range before.
type Range struct {
	UpTo unit.Bytes
	Message
}

// Limits of efficiency: the bytes of any message on the links stay below 2⁶³.
const (
	LeastEfficiency unit.Share = 100       // 0.01 %
	AllEfficiency   unit.Share = 1_000_000 // all is data
)

// Of returns the figures of messages of n bytes of data.
func (d *Device) Of(n unit.Bytes) *Message {
	for i := range d.Ranges {
		if n <= d.Ranges[i].UpTo {
			return &d.Ranges[i].Message
		}
	}
	return &d.Own
}

// HasMessage reports whether messages cost anything of their own.
func (d *Device) HasMessage() bool { return d.Own != (Message{}) || len(d.Ranges) > 0 }

// FreeMessages returns the device with messages that have no latency of their own.
func (d Device) FreeMessages() Device {
	d.Own.Latency = 0
	ranges := make([]Range, len(d.Ranges))
	for i, r := range d.Ranges {
		r.Latency = 0
		ranges[i] = r
	}
	d.Ranges = ranges
	return d
}

// OnLinks returns the bytes that cross the links for n bytes of data: n over the efficiency,
// rounded up; at most 2⁶³ − 1.
func (m *Message) OnLinks(n unit.Bytes) unit.Bytes {
	if m.Efficiency == 0 || m.Efficiency == AllEfficiency {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(AllEfficiency))
	if hi >= uint64(m.Efficiency) {
		return unit.Bytes(1<<63 - 1)
	}
	quo, rem := bits.Div64(hi, lo, uint64(m.Efficiency))
	if rem > 0 {
		quo++
	}
	return unit.Bytes(min(quo, 1<<63-1))
}

func (d Device) validateRanges() error {
	if err := d.Own.validate(""); err != nil {
		return err
	}
	for i, r := range d.Ranges {
		at := fmt.Sprintf("range %d: ", i)
		if r.UpTo < 0 || i > 0 && r.UpTo <= d.Ranges[i-1].UpTo {
			return fmt.Errorf("%sup_to = %v: more than the range before is expected", at, r.UpTo)
		}
		if err := r.validate(at); err != nil {
			return err
		}
	}
	return nil
}

func (m Message) validate(at string) error {
	switch {
	case m.Latency < 0 || m.Latency > MaxCost:
		return fmt.Errorf("%slatency = %v: a time from 0 s to %v is expected", at, m.Latency,
			MaxCost)
	case m.Efficiency != 0 && (m.Efficiency < LeastEfficiency || m.Efficiency > AllEfficiency):
		return fmt.Errorf("%sefficiency = %v: %v to %v is expected", at, m.Efficiency,
			LeastEfficiency, AllEfficiency)
	}
	return nil
}
