package report

import (
	"math"
	"slices"
	"strings"

	"collsim/scenarios"
)

// Value holds a value of a column, or any value of JSON: null (the zero value), a bool, a whole
// number, a float, a text, a list, or an object with its fields in order.
type Value struct {
	kind    kind
	whole   int64 // 1 for true
	number  float64
	text    string
	list    []Value
	members members
}

// members lists the fields of an object in the order in which they are written.
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

// Int makes a whole number: a count, a size in bytes, a time in picoseconds.
func Int[T ~int | ~int64](n T) Value { return Value{kind: isInt, whole: int64(n)} }

// Number makes a float. JSON has no infinities and NaN: writing these is an error.
func Number(x float64) Value { return Value{kind: isNumber, number: x} }

// Text makes a text.
func Text(s string) Value { return Value{kind: isText, text: s} }

// array makes a list.
func array(items ...Value) Value { return Value{kind: isList, list: items} }

// object makes an object of its fields.
func object(m members) Value { return Value{kind: isObject, members: m} }

// Bool makes true or false.
func Bool(b bool) Value {
	v := Value{kind: isBool}
	if b {
		v.whole = 1
	}
	return v
}

// known returns the value if ok, else null.
func known(ok bool, v Value) Value {
	if !ok {
		return Value{}
	}
	return v
}

// some makes a text, null if it is empty.
func some(s string) Value { return known(s != "", Text(s)) }

// natural makes a number, null if it is negative.
func natural[T ~int | ~int64](n T) Value { return known(n >= 0, Int(n)) }

// rate makes a bandwidth or a share, null if not ok.
func rate(x float64, ok bool) Value { return known(ok, Number(x)) }

// finite makes a number, null for infinities and NaN.
func finite(x float64) Value { return rate(x, !math.IsNaN(x) && !math.IsInf(x, 0)) }

// listOf makes a list of the value of each item.
func listOf[T any](items []T, value func(T) Value) Value {
	v := array()
	for _, item := range items {
		v.list = append(v.list, value(item))
	}
	return v
}

// valueOf converts a value of TOML.
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

// String spells a value as CSV has it. Null is empty, a text has no quotes, a number is as in JSON,
// and items of a list are separated by blanks.
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

// put sets the value at the end of a path of names; the first names a member of m. Missing objects
// on the path are made.
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
