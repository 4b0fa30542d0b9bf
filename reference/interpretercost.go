package reference

import (
	"collsim/schedule"
	"collsim/unit"
)

// cost holds what the execution of a schedule takes: the peak of all memories and of messages under
// way, in bytes, sub-steps, and the operations of all kernels.
type cost struct{ bytes, steps, flops int64 }

// costOf carries a schedule out on sizes alone.
func costOf(s *schedule.Schedule, slots int) (cost, error) {
	var c cost
	for b := range schedule.Buffer(s.Buffers()) {
		for rank := range s.Spec.Ranks {
			n := unit.MultiplyCapped(lengthOf(s, b, rank), int64(s.TypeOf(b).Width()))
			c.bytes = unit.AddCapped(c.bytes, n)
		}
	}
	var sent []int64 // by handle
	flying, most := int64(0), int64(0)
	_, err := schedule.Execute(s, schedule.Limits{Slots: slots}, schedule.Hooks{
		Step: func(v *schedule.Visit) error {
			c.steps++
			if k := v.Step.Kernel; k != nil && k.HasResult() {
				c.flops = unit.AddCapped(c.flops, k.FLOPs())
				most = max(most, unit.AddCapped(flying, unit.AddCapped(k.Read(), k.Written())))
				return nil
			}
			size, known := s.Bytes(v.Spot(), v.Step)
			for _, handle := range v.In {
				if handle < 0 {
					continue
				}
				if !known {
					size, known = sent[handle], true
				}
				flying -= sent[handle]
			}
			most = max(most, unit.AddCapped(flying, size))
			for i, handle := range v.Out {
				if handle < 0 {
					continue
				}
				for int(handle) >= len(sent) {
					sent = append(sent, 0)
				}
				if sent[handle] = size; v.Step.Send[i].Put {
					sent[handle] = 0
				}
				flying = unit.AddCapped(flying, sent[handle])
			}
			most = max(most, flying)
			return nil
		}})
	c.bytes = unit.AddCapped(c.bytes, most)
	return c, err
}
