package report

import (
	"math"
	"slices"
	"strings"

	"collsim/scenarios"
)

// Value is what a column has in a row, and all that JSON can hold: nothing (the zero value), a
// truth, a whole number, a float, a text, a list, or fields in their order.
type Value struct {
	kind    kind
	whole   int64 // of a truth 1 if it is true
	number  float64
	text    string
	list    []Value
	members members
}

// members are what an object has, in the order in which they are written.
type members []member

type member struct {
	name  string
	value Value
}

type kind uint8

const (
	isNull kind = iota
	isBool
	isInt
	isNumber
	isText
	isList
	isObject
)

// Int is a whole number: a count, a size in bytes, a time in picoseconds.
func Int[T ~int | ~int64](n T) Value { return Value{kind: isInt, whole: int64(n)} }

// Number is a float; JSON has none for infinities and NaN, which are errors there.
func Number(x float64) Value { return Value{kind: isNumber, number: x} }

// Text is a text.
func Text(s string) Value { return Value{kind: isText, text: s} }

// array is a list.
func array(items ...Value) Value { return Value{kind: isList, list: items} }

// object is names with their values.
func object(m members) Value { return Value{kind: isObject, members: m} }

// Bool is true or false.
func Bool(b bool) Value {
	v := Value{kind: isBool}
	if b {
		v.whole = 1
	}
	return v
}

// known is a value, or nothing where there is none.
func known(ok bool, v Value) Value {
	if !ok {
		return Value{}
	}
	return v
}

// some is a text, or nothing for an empty one.
func some(s string) Value { return known(s != "", Text(s)) }

// natural is a number, or nothing where a negative one stands for none.
func natural[T ~int | ~int64](n T) Value { return known(n >= 0, Int(n)) }

// rate is a bandwidth or a share, or nothing where there is none.
func rate(x float64, ok bool) Value { return known(ok, Number(x)) }

// finite is a number that JSON can hold, or nothing.
func finite(x float64) Value { return rate(x, !math.IsNaN(x) && !math.IsInf(x, 0)) }

// listOf is a list of what each item is as a value.
func listOf[T any](items []T, value func(T) Value) Value {
	v := array()
	for _, item := range items {
		v.list = append(v.list, value(item))
	}
	return v
}

// valueOf is a value of TOML.
func valueOf(v scenarios.Value) Value {
	switch v := v.(type) {
	case scenarios.Text:
		return Text(string(v))
	case scenarios.Whole:
		return Int(v)
	case scenarios.Number:
		return Number(float64(v))
	case scenarios.Truth:
		return Bool(bool(v))
	case scenarios.List:
		return listOf(v, valueOf)
	}
	return Value{}
}

// String spells a value as CSV has it: nothing is empty, a text stands without quotes, a number as
// in JSON, and between items of a list is a blank.
func (v Value) String() string {
	switch v.kind {
	case isNull:
		return ""
	case isText:
		return v.text
	case isList, isObject:
		var items []string
		for _, one := range v.list {
			items = append(items, one.String())
		}
		for _, m := range v.members {
			items = append(items, m.name+"="+m.value.String())
		}
		return strings.Join(items, " ")
	}
	return string(v.spelt(nil, ""))
}

// put sets the value at the end of a path of names, the first of which names a member. What the
// path goes through is nothing as long as all in it is.
func (m members) put(path []string, v Value) members {
	if len(path) == 1 {
		return append(m, member{path[0], v})
	}
	i := slices.IndexFunc(m, func(one member) bool { return one.name == path[0] })
	if i < 0 {
		i = len(m)
		m = append(m, member{name: path[0]})
	}
	group := &m[i].value
	group.members = group.members.put(path[1:], v)
	if v.kind != isNull {
		group.kind = isObject
	}
	return m
}
