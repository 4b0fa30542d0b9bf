package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// parse reads a value in JSON; its objects keep their order.
func parse(text []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseNext(d)
	if err != nil {
		return v, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, errors.New("one object is expected")
	}
	return v, nil
}

func parseNext(d *json.Decoder) (v Value, err error) {
	token, err := d.Token()
	if err != nil {
		return v, err
	}
	switch t := token.(type) {
	case bool:
		return Bool(t), nil
	case string:
		return Text(t), nil
	case json.Number:
		return parseNumber(t)
	case json.Delim:
		if t == '[' {
			v = array()
			for d.More() {
				one, err := parseNext(d)
				if err != nil {
					return v, err
				}
				v.list = append(v.list, one)
			}
			_, err = d.Token() // the bracket
			return v, err
		}
		return parseMembers(d)
	}
	return v, nil // null
}

func parseMembers(d *json.Decoder) (v Value, err error) {
	v = object(nil)
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return v, err
		}
		one, err := parseNext(d)
		if err != nil {
			return v, err
		}
		if _, twice := v.member(name.(string)); twice {
			return v, fmt.Errorf("%q is there twice", name)
		}
		v.members = append(v.members, member{name.(string), one})
	}
	_, err = d.Token()
	return v, err
}

// parseNumber keeps whole numbers whole.
func parseNumber(n json.Number) (Value, error) {
	if !strings.ContainsAny(n.String(), ".eE") {
		whole, err := n.Int64()
		if err == nil {
			return Int(whole), nil
		}
	}
	x, err := n.Float64()
	if err != nil {
		return Value{}, fmt.Errorf("%.40s: a number is expected", n)
	}
	return Number(x), nil
}

// member returns a member of an object, and whether it is there.
func (v Value) member(name string) (Value, bool) {
	at := slices.IndexFunc(v.members, func(m member) bool { return m.name == name })
	if at < 0 {
		return Value{}, false
	}
	return v.members[at].value, true
}

// get returns the value at a path of names, null where it is not there.
func (v Value) get(path ...string) Value {
	for _, name := range path {
		v, _ = v.member(name)
	}
	return v
}

// float returns a number; JSON spells whole ones without a point.
func (v Value) float() float64 {
	if v.kind == isInt {
		return float64(v.whole)
	}
	return v.number
}

// firstDifferent returns the path of the first value in which two differ, "" if they are equal.
func firstDifferent(path string, a, b Value) string {
	if a.kind != isObject || b.kind != isObject {
		if string(a.spelt(nil, "")) == string(b.spelt(nil, "")) {
			return ""
		}
		return path
	}
	for _, m := range slices.Concat(a.members, b.members) {
		x, here := a.member(m.name)
		y, there := b.member(m.name)
		if here != there {
			return path + "." + m.name
		}
		if at := firstDifferent(path+"."+m.name, x, y); at != "" {
			return at
		}
	}
	return ""
}
