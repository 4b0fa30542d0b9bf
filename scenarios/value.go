package scenarios

import (
	"fmt"
	"strings"
)

// Value is a value of [sweep] as TOML has it: Text, Whole, Number, Truth or List. It prints, and
// becomes JSON, as that.
type Value interface{ value() }

// The values of TOML that a key may have.
type (
	Text   string
	Whole  int64
	Number float64
	Truth  bool
	List   []Value
)

func (Text) value()   {}
func (Whole) value()  {}
func (Number) value() {}
func (Truth) value()  {}
func (List) value()   {}

// String returns the list in brackets.
func (l List) String() string {
	items := make([]string, len(l))
	for i, one := range l {
		items[i] = fmt.Sprint(one)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// valueOf turns the library's value into ours, with its type; nil for one that no key takes, as a
// date.
func valueOf(decoded any) Value {
	switch v := decoded.(type) {
	case string:
		return Text(v)
	case int64:
		return Whole(v)
	case float64:
		return Number(v)
	case bool:
		return Truth(v)
	case []any:
		list := make(List, len(v))
		for i, one := range v {
			list[i] = valueOf(one)
		}
		return list
	}
	return nil
}
