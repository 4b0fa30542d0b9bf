package sweep

import (
	"collsim/sim/model"
	"collsim/unit"
)

// stamp is a moment in one number, time before wave, so that the later of two moments is the
// greater. Without waves it is the time.
type stamp int64

// clock converts moments to stamps. If every link of a network takes time, nothing in a period
// happens at the same time as its cause, and waves are not counted.
type clock struct {
	bits    int       // the number of low bits that hold the wave; 0: waves are not counted
	mask    stamp     // these bits
	wave    stamp     // one wave
	latest  unit.Time // the latest moment that was converted
	highest int32     // the highest wave that was converted
}

// waveBits is the number of bits of a wave; fits checks that they are enough.
const waveBits = 10

// stamp converts a moment.
func (c *clock) stamp(m model.Moment) stamp {
	c.latest, c.highest = max(c.latest, m.T), max(c.highest, m.Wave)
	return stamp(m.T)<<c.bits | stamp(m.Wave)&c.mask
}

// moment converts a stamp back.
func (c *clock) moment(s stamp) model.Moment {
	return model.Moment{T: unit.Time(s >> c.bits), Wave: int32(s & c.mask)}
}

// plus adds a time to a stamp: model.Moment.Plus.
func (c *clock) plus(s stamp, d unit.Time) stamp {
	if d == 0 {
		return s
	}
	return s&^c.mask + stamp(d)<<c.bits
}

// fits reports whether no stamp overflows in a number of rows. No row takes longer than the given
// time, and no message crosses more than the given links. A message takes time until it has left
// and arrived. So waves only grow along its route, by one a link, from the wave in which it was
// sent.
func (c *clock) fits(times int64, row unit.Time, links int32) bool {
	limit := unit.Forever >> c.bits
	return int64(c.highest)+2*int64(links)*int64(c.wave) <= int64(c.mask) &&
		c.latest <= limit && times <= int64((limit-c.latest)/max(row, 1))
}
