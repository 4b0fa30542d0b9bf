package event

import "collsim/sim/model"

// smPlaces holds what is free of the SMs of a GPU. Mostly the blocks of a kernel take as much of
// every SM: then only a level changes, however many SMs there are.
type smPlaces struct {
	free   []int64 // of each SM, without the level
	level  int64   // what every SM has free besides
	uneven int     // how many have got places that are not alike on all SMs
}

// taken names places that somebody has: so many blocks on each SM, or those on a list of SMs.
type taken struct {
	onAll int64
	on    []int32
}

func newPlaces(sms int) smPlaces {
	p := smPlaces{free: make([]int64, sms)}
	for k := range p.free {
		p.free[k] = model.WholeSM
	}
	return p
}

// take gives out places for up to n blocks, as model.Place does, and returns for how many. It uses
// the list of t again.
func (p *smPlaces) take(share, n int64, t *taken) (blocks int64) {
	sms := int64(len(p.free))
	t.onAll, t.on = 0, t.on[:0]
	if p.uneven == 0 && sms > 0 {
		room := (p.free[0] + p.level) / share
		if each := min(room, n/sms); each > 0 && (each == room || n%sms == 0) {
			p.level -= each * share
			t.onAll = each
			return each * sms
		}
	}
	if t.on = model.Place(p.each(), share, n, t.on); len(t.on) > 0 {
		p.uneven++
	}
	return int64(len(t.on))
}

// give takes back what somebody had.
func (p *smPlaces) give(share int64, t *taken) {
	p.level += t.onAll * share
	for _, k := range t.on {
		p.free[k] += share
	}
	if len(t.on) > 0 {
		p.uneven--
	}
}

// each returns what each SM has free.
func (p *smPlaces) each() []int64 {
	if p.level != 0 {
		for k := range p.free {
			p.free[k] += p.level
		}
		p.level = 0
	}
	return p.free
}

func (t *taken) isAny() bool { return t.onAll > 0 || len(t.on) > 0 }
