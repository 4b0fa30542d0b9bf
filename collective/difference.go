package collective

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Difference returns the first attribute in which two communications differ, and its two values, as
// String writes them: "type", "float32", "int32". For a team and for splits it is the first entry,
// such as "splits[1][0]". It is empty if all attributes are equal.
func (c *Communication) Difference(d *Communication) (attribute, ours, theirs string) {
	for _, a := range []struct {
		name   string
		differ bool
		values [2]any
	}{
		{"kind", c.Kind != d.Kind, [2]any{c.Kind, d.Kind}},
		{"type", c.Type != d.Type, [2]any{orNone(c.Type), orNone(d.Type)}},
		{"operator", c.Op != d.Op, [2]any{orNone(c.Op), orNone(d.Op)}},
		{"factor", math.Float64bits(c.Factor) != math.Float64bits(d.Factor),
			[2]any{exactly(c.Factor), exactly(d.Factor)}},
		{"average", c.Avg != d.Avg, [2]any{c.Avg, d.Avg}},
		{"root", c.Root != d.Root, [2]any{c.Root, d.Root}},
		{"shape", !sameList(c.Shape, d.Shape), [2]any{shapeText(c.Shape), shapeText(d.Shape)}},
		{"axis", c.Axis != d.Axis, [2]any{c.Axis, d.Axis}},
		{"concat", c.Concat != d.Concat, [2]any{c.Concat, d.Concat}},
		{"in_place", c.InPlace != d.InPlace, [2]any{c.InPlace, d.InPlace}},
		{"disabled", c.Disabled != d.Disabled, [2]any{c.Disabled, d.Disabled}},
	} {
		if a.differ {
			return a.name, fmt.Sprint(a.values[0]), fmt.Sprint(a.values[1])
		}
	}
	if attribute, ours, theirs = differentEntry("team", c.Team, d.Team); attribute != "" {
		return attribute, ours, theirs
	}
	if len(c.Splits) != len(d.Splits) {
		return "rows of splits", fmt.Sprint(len(c.Splits)), fmt.Sprint(len(d.Splits))
	}
	for i := range c.Splits {
		name := fmt.Sprintf("splits[%d]", i)
		attribute, ours, theirs = differentEntry(name, c.Splits[i], d.Splits[i])
		if attribute != "" {
			return attribute, ours, theirs
		}
	}
	return "", "", ""
}

// differentEntry returns the first entry in which two lists differ. nil, which leaves a list open,
// differs from the empty list.
func differentEntry[T int | int64](name string, a, b []T) (entry, ours, theirs string) {
	if sameList(a, b) {
		return "", "", ""
	}
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return "length of " + name, lengthText(a), lengthText(b)
	}
	i := 0
	for a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%s[%d]", name, i), fmt.Sprint(a[i]), fmt.Sprint(b[i])
}

func sameList[T int | int64](a, b []T) bool {
	return slices.Equal(a, b) && (a == nil) == (b == nil)
}

func lengthText[T any](list []T) string {
	if list == nil {
		return "none"
	}
	return strconv.Itoa(len(list))
}

func shapeText(s Shape) string {
	if s == nil {
		return "none"
	}
	return s.String()
}

// orNone returns the name of a type or an operator, "none" for 0.
func orNone[T interface {
	~uint8
	fmt.Stringer
}](x T) string {
	if x == 0 {
		return "none"
	}
	return x.String()
}

// exactly formats a number with all its digits.
func exactly(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
