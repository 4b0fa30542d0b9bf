package trace

import (
	"fmt"

	"collsim/unit"
)

// Counter counts the bytes that something has carried, such as a link, which is its Name
// ("gpu0->switch"). It is a running total, not a rate. Its final value is exact; its slope is the
// rate.
//
// A writer adds a sample wherever the link's rate changes. The first has Value 0, where bytes begin
// to flow. Each change has the bytes so far, rounded down. Where the link falls idle there is a
// sample, and another of the same Value where bytes flow again. A link that never carried a byte
// has no samples.
type Counter struct {
	Name    string
	Samples []Sample // At and Value never fall
}

// Sample is the total of a counter at a time. Between two samples it grows linearly; at two samples
// of the same time it jumps (a link of unlimited bandwidth).
type Sample struct {
	At    unit.Time
	Value unit.Bytes
}

// Total returns the final total of the counter.
func (c Counter) Total() unit.Bytes {
	if len(c.Samples) == 0 {
		return 0
	}
	return c.Samples[len(c.Samples)-1].Value
}

func (t *Trace) checkCounter(c Counter) error {
	var before Sample
	for n, s := range c.Samples {
		switch {
		case s.At < before.At || s.At > t.End:
			return fmt.Errorf("sample %d: %d ps: %d to %d is expected", n, s.At, before.At, t.End)
		case s.Value < before.Value:
			return fmt.Errorf("sample %d: %d bytes: at least %d is expected",
				n, s.Value, before.Value)
		}
		before = s
	}
	return nil
}
