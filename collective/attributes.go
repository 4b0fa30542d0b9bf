package collective

import "fmt"

// meaningless returns an error for an attribute that has no effect on the communication's kind or
// operator; nil if there is none.
func (c *Communication) meaningless() error {
	if err := checkFactor(c.Op, c.Factor); err != nil {
		return err
	}
	moves := c.Kind != Barrier
	for _, a := range []struct {
		name         string
		given, meant bool
	}{
		{"operator " + orNone(c.Op), c.Op != 0, c.Kind.Reduces()},
		{"average " + c.Avg.String(), c.Avg != 0, c.Op == Avg},
		{fmt.Sprintf("root %d", c.Root), c.Root != 0, c.Kind.Rooted()},
		{"type " + orNone(c.Type), c.Type != 0, moves},
		{fmt.Sprintf("shape %v", c.Shape), c.Shape != nil, moves},
		{fmt.Sprintf("axis %d", c.Axis), c.Axis != 0, len(c.axes()) > 0},
		{"in_place", c.InPlace, moves && c.Kind != AllToAllV},
	} {
		if a.given && !a.meant {
			return fmt.Errorf("%s has no effect on %s", a.name, c.named())
		}
	}
	switch {
	case c.Axis < 0 || c.Concat < 0:
		return fmt.Errorf("%v: axes are counted from 0, not %d or %d", c.Kind, c.Axis,
			c.Concat)
	case c.Concat != 0 && c.Kind != AllToAll:
		return fmt.Errorf("concat is an axis of all_to_all, not of %v", c.Kind)
	case c.Splits != nil && !c.Kind.Splits():
		return fmt.Errorf("%v has no splits", c.Kind)
	}
	return nil
}

// named returns the kind with its operator.
func (c *Communication) named() string {
	if c.Op == 0 || !c.Kind.Reduces() {
		return c.Kind.String()
	}
	return c.Kind.String() + " " + c.Op.String()
}
