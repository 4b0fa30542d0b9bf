package run

import (
	"fmt"
	"maps"
	"sync"

	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// shared keeps what became of checks of numbers and of proofs, for points that need the same one:
// what links, devices and starts are like makes no difference to them, so that a sweep over those
// needs one of each a schedule. Workers that come while it is made wait for it. nil keeps nothing.
type shared struct {
	mutex   sync.Mutex
	reports map[string]func() (reference.Report, error)
	proofs  map[proofKey]func() *Verification // of schedules that are kept
}

// proofKey holds all that a proof follows from, of what no file holds.
type proofKey struct {
	schedule *schedule.Schedule
	slots    int
}

// newShared returns what keeps nothing yet.
func newShared() *shared {
	return &shared{reports: map[string]func() (reference.Report, error){},
		proofs: map[proofKey]func() *Verification{}}
}

// mostProofs bounds the proofs that are kept.
const mostProofs = 1 << 12

// proof proves a schedule with so many slots, unless it is kept and that has been done. With the
// schedules that are no longer kept it drops their proofs.
func (s *shared) proof(k *kept, key proofKey, prove func() *Verification) *Verification {
	if s == nil || !k.holds(key.schedule) {
		return prove()
	}
	s.mutex.Lock()
	proof, known := s.proofs[key]
	if !known {
		proof = sync.OnceValue(prove)
		maps.DeleteFunc(s.proofs, func(key proofKey, _ func() *Verification) bool {
			return !k.holds(key.schedule)
		})
		if len(s.proofs) < mostProofs {
			s.proofs[key] = proof
		}
	}
	s.mutex.Unlock()
	return proof()
}

// once makes a check, unless it has been made; those without a name are made every time.
func (s *shared) once(name string, check func() (reference.Report, error)) (reference.Report,
	error) {
	if s == nil || name == "" {
		return check()
	}
	s.mutex.Lock()
	known, ok := s.reports[name]
	if !ok {
		known = sync.OnceValues(check)
		s.reports[name] = known
	}
	s.mutex.Unlock()
	return known()
}

// checkOptions returns the options for checking an amount of a schedule's numbers.
func checkOptions(p *scenarios.Point, data reference.Data, a amount) reference.CheckOptions {
	return reference.CheckOptions{Seed: uint64(p.Seed), Data: data, Memory: int64(p.Check.Memory),
		Slots: p.Sim.Slots, Accumulate: sumsOf(p), Most: a.count, Sample: a.outputs}
}

// nameOfCheck returns a key by which equal checks share a result: a schedule follows from its
// collective and its algorithm. The key is empty for files and backward passes, where this does
// not hold, and for splits, which would make long keys. It is made from all fields of both, also
// those that will be added.
func nameOfCheck(s *schedule.Schedule, m *made, o reference.CheckOptions) string {
	if m.algorithm.FromFile() || m.another != nil || s.Spec.Splits != nil {
		return ""
	}
	o.Rebuild = nil
	return fmt.Sprintf("%s %s %#v %#v", m.algorithm, s.Name, s.Spec, o)
}
