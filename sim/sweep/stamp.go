package sweep

import (
	"collsim/sim/model"
	"collsim/unit"
)

// stamp is a moment in one number, so that the later of two is the greater: its time, then its
// wave. Without waves it is the time.
type stamp int64

// clock makes stamps. Where no link of a network can be crossed in no time, nothing in a period
// happens at one time because of something else, and waves are not counted.
type clock struct {
	bits    int       // of the wave, the lowest; 0: there is none
	mask    stamp     // these bits
	wave    stamp     // one wave
	latest  unit.Time // of all moments that were stamped
	highest int32     // wave of them
}

// waveBits are enough: see fits.
const waveBits = 10

// stamp is that of a moment.
func (c *clock) stamp(m model.Moment) stamp {
	c.latest, c.highest = max(c.latest, m.T), max(c.highest, m.Wave)
	return stamp(m.T)<<c.bits | stamp(m.Wave)&c.mask
}

// moment is what has a stamp.
func (c *clock) moment(s stamp) model.Moment {
	return model.Moment{T: unit.Time(s >> c.bits), Wave: int32(s & c.mask)}
}

// plus is model.Moment.Plus.
func (c *clock) plus(s stamp, d unit.Time) stamp {
	if d == 0 {
		return s
	}
	return s&^c.mask + stamp(d)<<c.bits
}

// fits reports whether no stamp overflows in so many rows, of which none takes longer than that
// and no message crosses more links. A message takes time until it has left, and so until it has
// arrived: a wave only grows on its way, by one for each link, from what there was at first, or
// what a message has arrived in.
func (c *clock) fits(times int64, row unit.Time, links int32) bool {
	limit := unit.Forever >> c.bits
	return int64(c.highest)+2*int64(links)*int64(c.wave) <= int64(c.mask) &&
		c.latest <= limit && times <= int64((limit-c.latest)/max(row, 1))
}
