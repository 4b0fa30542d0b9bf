package calls

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/collective"
)

// Field is a property in which the calls of a meeting must agree.
type Field string

// The fields, in the order in which they are compared.
const (
	KindField   Field = "kind"
	TypeField   Field = "type"
	CountField  Field = "count"
	OpField     Field = "operator"
	RootField   Field = "root"
	SplitsField Field = "splits"
	SumField    Field = "sum" // of an all_to_all: what all ranks send, and what they expect
)

// Value holds what some ranks have in a field.
type Value struct {
	Text  string
	Ranks []int
}

// Difference holds the values of a field in which calls differ, those of most ranks first. Of
// splits and sums there are two: what is sent and what is expected.
type Difference struct {
	Field  Field
	Values []Value
}

// Odd lists the ranks whose value differs from that of most; all of them where none has most.
func (d *Difference) Odd() (ranks []int) {
	from := 1
	if len(d.Values[0].Ranks) == len(d.Values[1].Ranks) {
		from = 0
	}
	for _, v := range d.Values[from:] {
		ranks = append(ranks, v.Ranks...)
	}
	slices.Sort(ranks)
	return ranks
}

// Difference returns the first field in which calls of a meeting differ. What a rank has not stated
// differs from nothing.
func (m *Meeting) Difference() (d Difference, differs bool) {
	for _, f := range []struct {
		field Field
		of    func(*Call) string
	}{{KindField, (*Call).kind}, {TypeField, (*Call).elementType}, {CountField, (*Call).count},
		{OpField, (*Call).operator}, {RootField, (*Call).root}} {
		if values := m.values(f.of); len(values) > 1 {
			return Difference{f.field, values}, true
		}
	}
	if m.First().Kind != collective.AllToAll {
		return d, false
	}
	if all := m.Unequal(); all != nil {
		return all[0], true
	}
	return m.sums()
}

// values returns the values of a field, those of most ranks first.
func (m *Meeting) values(of func(*Call) string) (values []Value) {
	for i, c := range m.Calls {
		if c == nil {
			continue
		}
		text := of(c)
		at := slices.IndexFunc(values, func(v Value) bool { return v.Text == text })
		switch {
		case text == "":
		case at < 0:
			values = append(values, Value{text, []int{m.Ranks[i]}})
		default:
			values[at].Ranks = append(values[at].Ranks, m.Ranks[i])
		}
	}
	slices.SortStableFunc(values, func(a, b Value) int {
		return cmp.Compare(len(b.Ranks), len(a.Ranks))
	})
	return values
}

func (c *Call) kind() string {
	if c.Message() { // its two ends differ in name
		return ""
	}
	return c.Name
}

func (c *Call) elementType() string {
	if c.Kind == collective.Barrier {
		return ""
	}
	return c.Type
}

func (c *Call) operator() string { return c.Op }

func (c *Call) root() string {
	if !c.Kind.Rooted() || c.Root < 0 {
		return ""
	}
	return fmt.Sprint(c.Root)
}

// Count returns the elements in which all ranks of a collective agree, −1 if there are none: of a
// block, or the whole.
func (c *Call) Count() int64 {
	switch {
	case c.Kind == 0 || c.Kind == collective.Barrier || c.Uneven:
		return -1
	case c.Message() && !c.Sends, c.Kind.Scatters() && c.Out >= 0:
		return c.Out
	}
	return c.In
}

func (c *Call) count() string {
	if n := c.Count(); n >= 0 {
		return fmt.Sprint(n)
	}
	return ""
}

// Unequal lists the splits of an all_to_all in which a rank expects another length than it is sent.
func (m *Meeting) Unequal() (all []Difference) {
	p := len(m.Ranks)
	for i, c := range m.Calls {
		for j, other := range m.Calls {
			if c == nil || other == nil || len(c.From) != p || len(other.To) != p {
				continue
			}
			if n := other.To[i]; c.From[j] != n {
				all = append(all, Difference{SplitsField, []Value{{fmt.Sprint(n), []int{m.Ranks[j]}},
					{fmt.Sprint(c.From[j]), []int{m.Ranks[i]}}}})
			}
		}
	}
	return all
}

// sums compares what all ranks of an all_to_all send with what they expect.
func (m *Meeting) sums() (d Difference, differ bool) {
	sent, got := int64(0), int64(0)
	for _, c := range m.Calls {
		if c == nil || c.In < 0 || c.Out < 0 {
			return d, false
		}
		sent, got = sent+c.In, got+c.Out
	}
	return Difference{SumField, []Value{{fmt.Sprint(sent), m.Ranks}, {fmt.Sprint(got), m.Ranks}}},
		sent != got
}

// alike reports whether two calls could meet.
func alike(a, b *Call) bool {
	m := Meeting{Ranks: []int{0, 1}, Calls: []*Call{a, b}}
	if a == nil || b == nil || a.Message() || b.Message() {
		return false
	}
	_, differs := m.Difference()
	return !differs
}
