package trace

import (
	"fmt"

	"collsim/unit"
)

// Counter is how many bytes something has carried: a link, by its name ("gpu0->switch"). It is a
// running total, not a speed: the total at the end is the link's bytes, exactly, whatever happened
// in between, and the speed in between is what the total grows by.
//
// Who writes a counter adds a sample wherever the link's speed changes: Value 0 where the first
// bytes begin to flow; at each change what has flowed so far, rounded down to whole bytes; where
// the link falls idle what has flowed until then, and that once more where bytes flow again. A link
// that never carried a byte has no samples.
type Counter struct {
	Name    string
	Samples []Sample // At and Value never fall
}

// Sample says that a counter's total was Value at that time. Between two samples it grows evenly;
// where they have the same time it jumps (a link of unlimited bandwidth).
type Sample struct {
	At    unit.Time
	Value unit.Bytes
}

// Total returns all that the counter counted.
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
