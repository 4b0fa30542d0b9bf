package collective

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/dtype"
)

// Communication is a collective on tensors, as a value: the attributes that an operator of a
// framework or a node of a compiler's program holds. It names a team of ranks but no device. A rank
// determines its part only when it runs (Role). Two communications with the same attributes are
// equal.
type Communication struct {
	Kind   Kind
	Op     Op // zero unless Kind.Reduces
	Avg    AvgMode
	Factor float64 // of PremulSum
	Type   dtype.Type
	Team   []int     // an ordered subset of the ranks; nil is all of them
	Root   int       // a rank of the team; 0 unless Kind.Rooted
	Shape  Shape     // of an input; nil leaves it open
	Axis   int       // axis that is gathered, scattered, or split by all_to_all
	Concat int       // axis along which all_to_all joins
	Splits [][]int64 // lengths on Axis, of kinds with splits, by position in the team
	// InPlace says that input and output share memory. A Disabled communication is skipped, and
	// leaves its output unchanged.
	InPlace, Disabled bool
}

// String returns such as "reduce_scatter bfloat16 sum team 3,1,2 shape 12x5 axis 0": every
// attribute that is not zero, in a fixed order. ParseCommunication reads it.
func (c *Communication) String() string {
	var b strings.Builder
	b.WriteString(c.Kind.String())
	word := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	if c.Type != 0 {
		word("%v", c.Type)
	}
	if c.Op != 0 {
		word("%v", c.Op)
	}
	if c.Factor != 0 {
		word("factor %s", exactly(c.Factor))
	}
	if c.Avg != 0 {
		word("average %v", c.Avg)
	}
	if c.Team != nil {
		word("team %s", commas(c.Team))
	}
	if c.Root != 0 {
		word("root %d", c.Root)
	}
	if c.Shape != nil {
		word("shape %v", c.Shape)
	}
	if c.Axis != 0 {
		word("axis %d", c.Axis)
	}
	if c.Concat != 0 {
		word("concat %d", c.Concat)
	}
	if c.Splits != nil {
		rows := make([]string, len(c.Splits))
		for i, row := range c.Splits {
			rows[i] = commas(row)
		}
		word("splits %s", strings.Join(rows, "/"))
	}
	if c.InPlace {
		word("in_place")
	}
	if c.Disabled {
		word("disabled")
	}
	return b.String()
}

func commas[T int | int64](numbers []T) string {
	text := make([]string, len(numbers))
	for i, n := range numbers {
		text[i] = strconv.FormatInt(int64(n), 10)
	}
	return strings.Join(text, ",")
}

// ParseCommunication parses the output of String.
func ParseCommunication(text string) (*Communication, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, fmt.Errorf("no kind in an empty communication")
	}
	c := &Communication{}
	var err error
	if c.Kind, err = ParseKind(words[0]); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for words = words[1:]; len(words) > 0; {
		name, used, err := c.attribute(words)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q: %w", text, err)
		case seen[name]:
			return nil, fmt.Errorf("%q: a second %s, %s", text, name,
				strings.Join(words[:used], " "))
		}
		seen[name] = true
		words = words[used:]
	}
	if err := c.meaningless(); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return c, nil
}

// attribute parses one attribute and returns its name and the number of words it took.
func (c *Communication) attribute(words []string) (name string, used int, err error) {
	switch word := words[0]; word {
	case "in_place", "disabled":
		c.InPlace, c.Disabled = c.InPlace || word == "in_place", c.Disabled || word == "disabled"
		return word, 1, nil
	case PremulSum.String(): // its factor is an attribute beside it
		c.Op = PremulSum
		return "operator", 1, nil
	default:
		if t, err := dtype.Parse(word); err == nil {
			c.Type = t
			return "type", 1, nil
		}
		if op, factor, err := ParseOp(word); err == nil || strings.Contains(word, "(") {
			if c.Op = op; op == PremulSum {
				c.Factor = factor
			}
			return "operator", 1, err
		}
	}
	value := ""
	if len(words) > 1 {
		value = words[1]
	}
	switch name = words[0]; name {
	case "factor":
		if c.Factor != 0 {
			return name, 2, fmt.Errorf("a second factor, %s", value)
		}
		c.Factor, err = strconv.ParseFloat(value, 64)
	case "average":
		c.Avg, err = ParseAvgMode(value)
	case "team":
		c.Team, err = integers[int](value)
	case "root":
		c.Root, err = strconv.Atoi(value)
	case "shape":
		c.Shape, err = ParseShape(value)
	case "axis":
		c.Axis, err = strconv.Atoi(value)
	case "concat":
		c.Concat, err = strconv.Atoi(value)
	case "splits":
		for _, row := range strings.Split(value, "/") {
			numbers, wrong := integers[int64](row)
			if wrong != nil {
				err = wrong
			}
			c.Splits = append(c.Splits, numbers)
		}
	default:
		return "", 0, fmt.Errorf("%q is no attribute; attributes are a type, an operator, factor, "+
			"average, team, root, shape, axis, concat, splits, in_place and disabled", name)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return name, 2, err
}

func integers[T int | int64](text string) ([]T, error) {
	var row []T
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q: numbers with commas between them are expected", text)
		}
		row = append(row, T(n))
	}
	return row, nil
}

// rank returns the rank at a position of the team.
func (c *Communication) rank(position int) int {
	if c.Team == nil {
		return position
	}
	return c.Team[position]
}

// position returns a rank's position in the team of n, −1 if it is not in it.
func (c *Communication) position(rank, n int) int {
	if c.Team != nil {
		return slices.Index(c.Team, rank)
	}
	if rank < 0 || rank >= n {
		return -1
	}
	return rank
}

// Validate returns an error if the attributes are not valid for a team of n ranks. Shapes and types
// may still be open.
func (c *Communication) Validate(n int) error {
	switch {
	case n < 1:
		return fmt.Errorf("%d ranks; at least 1 is needed", n)
	case c.Kind < AllReduce || c.Kind > Barrier:
		return fmt.Errorf("%v is no communication", c.Kind)
	case c.Team != nil && len(c.Team) != n:
		return fmt.Errorf("a team of %d ranks, but %d take part", len(c.Team), n)
	case c.Kind.Rooted() && c.position(c.Root, n) < 0:
		return fmt.Errorf("%v: the root %d is not a member of the team %s", c.Kind, c.Root,
			c.teamText(n))
	case c.Op > Xor:
		return fmt.Errorf("%v: there is no operator %v", c.Kind, c.Op)
	case c.Type != 0 && !c.Type.Valid():
		return fmt.Errorf("%v: there is no type %v", c.Kind, c.Type)
	}
	if err := CheckOp(c.Op, c.Type); err != nil {
		return fmt.Errorf("%v: %w", c.Kind, err)
	}
	if err := c.meaningless(); err != nil {
		return err
	}
	named := make(map[int]bool, len(c.Team))
	for _, rank := range c.Team {
		if rank < 0 || named[rank] {
			return fmt.Errorf("team %s: rank %d is negative or named twice",
				c.teamText(n), rank)
		}
		named[rank] = true
	}
	if err := c.Shape.Validate(); err != nil {
		return err
	}
	return Spec{Kind: c.Kind, Ranks: n, Splits: c.Splits}.validateSplits()
}

func (c *Communication) teamText(n int) string {
	if c.Team != nil {
		return "{" + commas(c.Team) + "}"
	}
	return fmt.Sprintf("{0…%d}", n-1)
}
