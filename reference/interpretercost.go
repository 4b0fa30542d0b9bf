package reference

import (
	"math"

	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// cost holds the resources that the execution of a schedule takes. bytes is the peak of all
// memories and of messages in flight. flops counts the operations of all kernels, and wide those
// among them in float64 or integers. elements counts what kernels read and write, and packed those
// among them of matrix products, which pack their operands first. moved counts the bytes that the
// other steps move, and summed the elements that they add up.
type cost struct {
	bytes, flops, wide      int64
	steps, elements, packed int64
	moved, summed           int64
}

// costOf carries a schedule out on sizes alone.
func costOf(s *schedule.Schedule, slots int) (cost, error) {
	var c cost
	for b := range schedule.Buffer(s.Buffers()) {
		for rank := range s.Spec.Ranks {
			c.bytes = capped(c.bytes, times(lengthOf(s, b, rank), int64(s.TypeOf(b).Width())))
		}
	}
	var sent []int64
	flying, most := int64(0), int64(0)
	_, err := schedule.Execute(s, schedule.Limits{Slots: slots}, schedule.Hooks{
		Step: func(v *schedule.Visit) error {
			c.steps++
			if k := v.Step.Kernel; k != nil && k.Kind != kernel.Opaque {
				c.kernel(k)
				most = max(most, capped(flying, capped(k.Read(), k.Written())))
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
			c.move(s, v, size)
			most = max(most, capped(flying, size))
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
				flying = capped(flying, sent[handle])
			}
			most = max(most, flying)
			return nil
		}})
	c.bytes = capped(c.bytes, most)
	return c, err
}

// move counts what a step moves that is no kernel.
func (c *cost) move(s *schedule.Schedule, v *schedule.Visit, size int64) {
	c.moved = capped(c.moved, size)
	if len(v.Step.From) > 1 {
		c.summed = capped(c.summed, size/int64(max(s.SpecAt(v.Spot()).Type.Width(), 1)))
	}
}

// kernel counts a kernel.
func (c *cost) kernel(k *kernel.Op) {
	c.flops = capped(c.flops, k.FLOPs())
	c.elements = capped(c.elements, elementsOf(k))
	if k.IsMatmul() {
		c.packed = capped(c.packed, elementsOf(k))
	}
	if isWide(k) {
		c.wide = capped(c.wide, k.FLOPs())
	}
}

// isWide reports whether a kernel computes in float64, or in integers.
func isWide(k *kernel.Op) bool {
	return !k.A.IsFloat() || k.A == dtype.Float64 || k.B == dtype.Float64
}

// elementsOf counts the elements that a kernel reads and writes.
func elementsOf(k *kernel.Op) (n int64) {
	for _, t := range k.Operands() {
		n = capped(n, t.Shape.Elements())
	}
	return capped(n, k.Output().Shape.Elements())
}

// capped adds two numbers that are not negative. It saturates at the largest int64.
func capped(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }
