package run

import (
	"fmt"
	"sync"

	"collsim/algos"
	"collsim/collective"
	"collsim/schedule"
)

// kept holds schedules that algorithms have made, for other points of a scenario that need the same
// ones. A schedule follows from its algorithm, its collective and the options. It does not depend
// on what links, devices and starts are like, so that a sweep over those makes each schedule once.
// Workers that come while it is made wait for it. The zero value is empty.
type kept struct {
	sync.Mutex
	built map[buildKey]*built
	of    map[*schedule.Schedule]bool // those of built that have been made
	order []buildKey                  // of built, the oldest first
	parts int64                       // of all that have been made
}

// buildKey holds all that a schedule follows from.
type buildKey struct {
	algorithm string
	bound     string // the parameters that it was bound to before; empty if it was not
	spec      collective.Key
	options   string
}

// built is a schedule that is made once.
type built struct {
	schedule func() (*schedule.Schedule, error)
	parts    int64 // that it takes, and one more; 0 while it is made
}

// Bounds of what is kept: so many schedules, of so many ranks each, whose programs have so many
// parts together (schedule.CachedParts), about 80 MiB.
const (
	mostKept      = 1 << 10
	mostKeptRanks = 1 << 10
	mostKeptParts = 1 << 19
)

// build applies an algorithm, which may have been bound to parameters, to a collective, unless that
// has been done. It keeps nothing that depends on links, or has long keys.
func (k *kept) build(a algos.Algorithm, bound string, spec collective.Spec, o algos.Options) (
	*schedule.Schedule, error) {
	if a.Make != nil || spec.Ranks > mostKeptRanks || spec.Splits != nil {
		return a.Build(spec, o)
	}
	key := buildKey{a.Name, bound, spec.Key(), fmt.Sprintf("%#v", o)}
	k.Lock()
	b, known := k.built[key]
	if !known {
		if k.built == nil {
			k.built, k.of = map[buildKey]*built{}, map[*schedule.Schedule]bool{}
		}
		b = &built{schedule: sync.OnceValues(func() (*schedule.Schedule, error) {
			return a.Build(spec, o)
		})}
		k.built[key] = b
		k.order = append(k.order, key)
	}
	k.Unlock()
	s, err := b.schedule()
	if !known {
		k.weigh(b, s)
	}
	return s, err
}

// weigh counts a schedule that has been made, nil where it could not, and drops the oldest while
// there are too many.
func (k *kept) weigh(b *built, s *schedule.Schedule) {
	parts := int64(1)
	if s != nil {
		parts += schedule.CachedParts(s)
	}
	k.Lock()
	defer k.Unlock()
	b.parts, k.of[s] = parts, true
	k.parts += parts
	for len(k.order) > mostKept || k.parts > mostKeptParts {
		oldest := k.built[k.order[0]]
		if oldest.parts == 0 { // the worker that makes it weighs it
			return
		}
		k.parts -= oldest.parts
		of, _ := oldest.schedule()
		delete(k.of, of)
		delete(k.built, k.order[0])
		k.order = k.order[1:]
	}
}

// holds reports whether a schedule is still kept.
func (k *kept) holds(s *schedule.Schedule) bool {
	k.Lock()
	defer k.Unlock()
	return k.of[s]
}
