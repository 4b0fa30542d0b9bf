package dumps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// value is a value of a JSON document or of a pickle, with its place in the file.
type value struct {
	file, path string
	is         any // map[string]any, []any or *list, string, a number, bool or nil
}

// items returns the items of a list.
func (v value) items() (items []any, ok bool) {
	if of, pickled := v.is.(*list); pickled {
		return of.items, true
	}
	items, ok = v.is.([]any)
	return items, ok
}

// parseJSON reads a document of one value.
func parseJSON(f file) (value, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(f.text, []byte("\uFEFF"))))
	d.UseNumber()
	v := value{file: f.name}
	err := d.Decode(&v.is)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more behind the closing brace")
		}
	}
	if err != nil {
		at := d.InputOffset()
		var syntax *json.SyntaxError
		text := strings.TrimPrefix(err.Error(), "json: ")
		if errors.As(err, &syntax) {
			at = syntax.Offset
		} else if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			at, text = int64(len(f.text)), "the file ends in the middle of a value"
		}
		at = min(at, int64(len(f.text)))
		return v, &ParseError{File: f.name, Line: 1 + bytes.Count(f.text[:at], []byte("\n")),
			Text: text}
	}
	return v, nil
}

// wrong makes an error of the value.
func (v value) wrong(text string) error {
	return &ParseError{File: v.file, Key: v.path, Value: v.short(), Text: text}
}

// short writes the value for an error.
func (v value) short() string {
	if items, ok := v.items(); ok {
		return fmt.Sprintf("a list of %d", len(items))
	}
	switch is := v.is.(type) {
	case nil:
		return "None"
	case map[string]any:
		return "{…}"
	case string:
		return fmt.Sprintf("%.60q", is)
	}
	return fmt.Sprint(v.is)
}

// get returns a member of an object, none if there is none.
func (v value) get(key string) value {
	in := value{file: v.file, path: strings.TrimPrefix(v.path+"."+key, ".")}
	if object, ok := v.is.(map[string]any); ok {
		in.is = object[key]
	}
	return in
}

// first returns the first member that there is of several spellings.
func (v value) first(keys ...string) value {
	for _, key := range keys {
		if in := v.get(key); in.is != nil {
			return in
		}
	}
	return v.get(keys[0])
}

// list returns the items of a list; none is an empty one.
func (v value) list() (items []value, err error) {
	list, ok := v.items()
	if !ok && v.is != nil {
		return nil, v.wrong("a list is expected")
	}
	for i, is := range list {
		items = append(items, value{v.file, fmt.Sprintf("%s[%d]", v.path, i), is})
	}
	return items, nil
}

// object checks that the value is an object.
func (v value) object() error {
	if _, ok := v.is.(map[string]any); !ok {
		return v.wrong("an object is expected")
	}
	return nil
}

// text returns a string; none is an empty one.
func (v value) text() (string, error) {
	s, ok := v.is.(string)
	if !ok && v.is != nil {
		return "", v.wrong("text is expected")
	}
	return s, nil
}

// whole returns a whole number, which may be written as text; missing is what none stands for.
func (v value) whole(missing int64) (int64, error) {
	var text string
	switch is := v.is.(type) {
	case nil:
		return missing, nil
	case int64:
		return is, nil
	case json.Number:
		text = is.String()
	case string:
		text = is
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, v.wrong("a whole number is expected")
	}
	return n, nil
}

// most is the largest number of a rank, and of the ranks of a group.
const most = 1 << 16

// rank returns the number of a rank.
func (v value) rank() (int, error) {
	n, err := v.whole(-1)
	if err == nil && (n < 0 || n >= most) {
		err = v.wrong(fmt.Sprintf("a rank is expected, 0 to %d", most-1))
	}
	return int(n), err
}

// elements multiplies the sizes of a tensor.
func (v value) elements() (int64, error) {
	dims, err := v.list()
	n := int64(1)
	if len(dims) > 64 {
		return 0, v.wrong("sizes of a tensor are expected, 64 at most")
	}
	for _, dim := range dims {
		d, bad := dim.whole(-1)
		if bad != nil || d < 0 || d > 0 && n > math.MaxInt64/d {
			return 0, v.wrong("sizes of a tensor are expected")
		}
		n *= d
	}
	return n, err
}

// sortedKeys lists the keys of an object in order.
func sortedKeys[T any](object map[string]T) []string {
	return slices.Sorted(maps.Keys(object))
}
