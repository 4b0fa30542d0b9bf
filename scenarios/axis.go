package scenarios

import (
	"fmt"
	"math"
	"strconv"

	"collsim/dtype"
	"collsim/unit"
)

// item is one value of a key, with its place for errors.
type item struct {
	value any // as Key.read returns it; nil if it could not be read
	node  *node
}

// maxValues bounds a list or a range; maxPoints a whole scenario.
const (
	maxValues = 10_000
	maxPoints = 100_000
)

// values reads the list or range of an axis. Errors go to report, with the key's path extended
// where only a part of a range is wrong.
func (k *Key) values(n *node, report func(sub string, n *node, p *problem)) []item {
	switch {
	case n.shape == table:
		return k.ranged(n, report)
	case n.shape == scalar:
		report("", n, &problem{"a list of values is expected", "for example [" + k.Example + "]"})
		return nil
	case len(n.items) == 0:
		report("", n, &problem{text: "an empty list; at least one value is expected"})
		return nil
	case len(n.items) > maxValues:
		report("", n, &problem{text: fmt.Sprintf("%d values; at most %d are expected",
			len(n.items), maxValues)})
		return nil
	}
	var items []item
	seen := map[string]bool{}
	for _, one := range n.items {
		if one.shape == array && !k.listed() {
			report("", one, &problem{text: "one value is expected, not a list in a list"})
			continue
		}
		v, p := k.read(one)
		if p == nil && seen[canonical(v)] {
			p = &problem{text: "this value is in the list twice"}
		}
		if p != nil {
			report("", one, p)
			continue
		}
		seen[canonical(v)] = true
		items = append(items, item{v, one})
	}
	return items
}

// ranged reads { from = a, to = b, factor = f } or { …, step = s }, both ends inclusive.
func (k *Key) ranged(n *node, report func(sub string, n *node, p *problem)) []item {
	if k.kind != aWhole && k.kind != aSize && k.kind != aRate && k.kind != aTime {
		report("", n, &problem{"values that cannot be counted have no range", "list them in [ ]"})
		return nil
	}
	ends := map[string]int64{}
	failed := false
	for _, c := range n.items {
		v, p := k.end(c)
		if p != nil {
			report(c.name, c, p)
			failed = true
		}
		ends[c.name] = v
	}
	if failed {
		return nil
	}
	if p := incomplete(ends); p != nil {
		report("", n, p)
		return nil
	}
	var items []item
	for v, ok := ends["from"], true; ok && v <= ends["to"]; v, ok = following(v, ends) {
		if len(items) == maxValues {
			report("", n, &problem{text: fmt.Sprintf("more than %d values", maxValues)})
			return nil
		}
		items = append(items, k.counted(v, n))
	}
	return items
}

// incomplete says what a range lacks, nil if nothing.
func incomplete(ends map[string]int64) *problem {
	_, from := ends["from"]
	_, to := ends["to"]
	_, factor := ends["factor"]
	_, step := ends["step"]
	switch {
	case !from || !to || factor == step:
		return &problem{"not a complete range",
			"a range is { from = …, to = …, factor = … } or { from = …, to = …, step = … }"}
	case ends["from"] > ends["to"]:
		return &problem{text: "from is more than to"}
	case factor && ends["from"] == 0:
		return &problem{"a range from 0 gets nowhere by a factor", "give a step, or begin above 0"}
	}
	return nil
}

// following returns the value of a range after v, false where an int64 ends.
func following(v int64, ends map[string]int64) (int64, bool) {
	if factor, ok := ends["factor"]; ok {
		return v * factor, v <= math.MaxInt64/factor
	}
	return v + ends["step"], v <= math.MaxInt64-ends["step"]
}

// end reads one entry of a range.
func (k *Key) end(c *node) (int64, *problem) {
	switch c.name {
	case "from", "to":
		if c.shape != scalar {
			return 0, &problem{text: "one value is expected"}
		}
		v, p := k.read(c)
		return number(v), p
	case "step":
		v, p := k.read(c)
		if p == nil && number(v) <= 0 {
			p = &problem{text: "a step of more than 0 is expected"}
		}
		return number(v), p
	case "factor":
		v, ok := c.value.(int64)
		if !ok || v < 2 {
			return 0, &problem{text: "a whole number of at least 2 is expected"}
		}
		return v, nil
	}
	return 0, &problem{"unknown key", "a range has from, to and factor or step"}
}

// number returns the value of a countable key, in its smallest unit.
func number(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case unit.Bytes:
		return int64(v)
	case unit.Rate:
		return int64(v)
	case unit.Time:
		return int64(v)
	}
	return 0
}

// counted makes the item of a range's value; it stands where the range stands.
func (k *Key) counted(v int64, n *node) item {
	it := item{value: v, node: &node{line: n.line, file: n.file}}
	switch k.kind {
	case aSize:
		it.value = unit.Bytes(v)
	case aRate:
		it.value = unit.Rate(v)
	case aTime:
		it.value = unit.Time(v)
	}
	it.node.value = any(canonical(it.value))
	it.node.raw = strconv.Quote(canonical(it.value))
	if k.kind == aWhole {
		it.node.value, it.node.raw = v, canonical(v)
	}
	return it
}

// canonical returns the one spelling of a value, which --only compares and file names show.
func canonical(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case operator:
		if v.factor != 1 {
			return fmt.Sprintf("%v(factor=%s)", v.op, canonical(v.factor))
		}
		return v.op.String()
	case change:
		if v.rate == 0 {
			return v.share.String()
		}
		return v.rate.String()
	case dtype.Type:
		return v.String()
	case Algorithm:
		return v.String()
	case []int:
		return listText(v)
	}
	return fmt.Sprint(v)
}
