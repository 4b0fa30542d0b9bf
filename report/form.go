package report

import (
	"fmt"
	"slices"
	"strings"
)

// Form describes the values that a column or a member of an object has in JSON, in the words of
// JSON Schema. The zero value is any value.
type Form struct {
	Type    string   // "boolean", "integer", "number", "string", "array" or "object"
	Null    bool     // or null
	Texts   []string // the only texts
	Items   *Form    // of an array
	Members []Member // of an object; it may have others

	name string // of a form that a schema defines once
}

// Member is a member of an object that a Form describes.
type Member struct {
	Name     string
	Form     Form
	Optional bool // it may be absent
}

// The forms of plain values.
func aBool() Form                  { return Form{Type: "boolean"} }
func aWhole() Form                 { return Form{Type: "integer"} }
func aNumber() Form                { return Form{Type: "number"} }
func aText(only ...string) Form    { return Form{Type: "string", Texts: only} }
func anArray(items Form) Form      { return Form{Type: "array", Items: &items} }
func anObject(m ...Member) Form    { return Form{Type: "object", Members: m} }
func (f Form) orNull() Form        { f.Null = true; return f }
func must(n string, f Form) Member { return Member{Name: n, Form: f} }
func may(n string, f Form) Member  { return Member{Name: n, Form: f, Optional: true} }

// put adds a member at the end of a path of names, as members.put does.
func (f *Form) put(path []string, m Member) {
	if len(path) == 1 {
		m.Name = path[0]
		f.Members = append(f.Members, m)
		return
	}
	at := slices.IndexFunc(f.Members, func(one Member) bool { return one.Name == path[0] })
	if at < 0 {
		at = len(f.Members)
		// An object of values that are all left out, or all null, is itself left out, or null.
		f.Members = append(f.Members, Member{path[0], anObject().orNull(), true})
	}
	group := &f.Members[at]
	group.Optional = group.Optional && m.Optional
	group.Form.put(path[1:], m)
}

// words says what is expected: "a whole number, or null".
func (f *Form) words() string {
	text := map[string]string{"boolean": "true or false", "integer": "a whole number",
		"number": "a number", "string": "a text", "array": "a list", "object": "an object"}[f.Type]
	if f.Texts != nil {
		text = strings.Join(f.Texts, ", ")
	}
	if f.Null {
		text += ", or null"
	}
	return text
}

// check returns an error unless a value has the form. path names the value.
func (f *Form) check(path string, v Value) error {
	if v.kind == isNull && f.Null || f.Type == "" {
		return nil
	}
	kinds := map[string][]kind{"boolean": {isBool}, "integer": {isInt}, "number": {isInt, isNumber},
		"string": {isText}, "array": {isList}, "object": {isObject}}[f.Type]
	if !slices.Contains(kinds, v.kind) || f.Texts != nil && !slices.Contains(f.Texts, v.text) {
		return fmt.Errorf("%s = %.40s: %s is expected", path, v.spelt(nil, ""), f.words())
	}
	for i, one := range v.list {
		if err := f.Items.check(fmt.Sprintf("%s[%d]", path, i), one); err != nil {
			return err
		}
	}
	for _, m := range f.Members {
		one, there := v.member(m.Name)
		if !there && !m.Optional {
			return fmt.Errorf("%s.%s is missing", path, m.Name)
		}
		if !there {
			continue
		}
		if err := m.Form.check(path+"."+m.Name, one); err != nil {
			return err
		}
	}
	return nil
}
