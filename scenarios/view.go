package scenarios

import "strings"

// view is the document as one point sees it: every key that is swept or an axis has one value.
type view struct {
	d    *Document
	at   map[string]item // by numbered path; what is not in it is in the document
	used map[string]bool // keys that had a meaning here

	named *namedMachine // by the name of a machine; nil: nobody has looked
}

// item returns the value at a numbered path: what is given there, or what the machine implies that
// topology.preset names, which is then no preset.
func (v *view) item(at string) (item, bool) {
	it, ok := v.given(at)
	m := v.byName()
	switch {
	case m.of == nil:
		return it, ok
	case at == machineKey:
		return item{}, false
	case ok:
		return it, true
	}
	it, ok = m.keys[at]
	return it, ok
}

// given returns the value that the document has at a numbered path.
func (v *view) given(at string) (item, bool) {
	if it, ok := v.at[at]; ok {
		return it, true
	}
	l := v.d.leaves[at]
	switch {
	case l == nil:
		return item{}, false
	case len(l.items) == 0:
		return item{node: l.node}, true
	}
	return l.items[0], true
}

// has reports whether a key is given, readable or not.
func (v *view) has(at string) bool {
	_, ok := v.item(at)
	return ok
}

// fetch returns a value. ok is false where it could not be read, which has been reported; given is
// false where it is not there, and value is then zero.
func fetch[T any](v *view, at string) (value T, given, ok bool) {
	it, given := v.item(at)
	if !given {
		return value, false, true
	}
	value, ok = it.value.(T)
	return value, true, ok
}

// fetchOr fetches a key, with a default.
func fetchOr[T any](v *view, at string, otherwise T) (value T, ok bool) {
	value, given, ok := fetch[T](v, at)
	if !given {
		value = otherwise
	}
	return value, ok
}

// fill stores what the keys of a table, by its numbered path, say in a target. A key that is not
// given has its default, or leaves the target as it is where that is in words. ok is false where a
// value is missing or could not be read, which has been reported.
func (v *view) fill(at string, target any) (ok bool) {
	ok = true
	table, _, _ := strings.Cut(at, "[")
	for _, k := range v.d.schema.filled[table] {
		it, given := v.item(join(at, k.name()))
		switch {
		case given:
			k.to(target, it.value)
			ok = ok && it.value != nil
		case k.must != "":
			v.missing(at, k.name(), k.must, "for example "+k.name()+" = "+k.Example)
			ok = false
		case k.usual != nil:
			k.to(target, k.usual)
		}
	}
	return ok
}

// need fetches a key that must be there.
func need[T any](v *view, at, expected string) (value T, ok bool) {
	value, given, ok := fetch[T](v, at)
	if !given {
		dot := strings.LastIndexByte(at, '.')
		v.missing(at[:dot], at[dot+1:], expected, v.example(at))
		return value, false
	}
	return value, ok
}

// example shows how to write a key.
func (v *view) example(at string) string {
	p, _ := parsePath(at)
	k := v.d.schema.byPath[p.plain()]
	return "for example " + k.name() + " = " + k.Example
}

// missing reports a key that should be in a table, at the table's header; or, without a name, the
// table itself.
func (v *view) missing(table, name, expected, hint string) {
	at := strings.TrimSuffix(join(table, name), ".")
	if v.d.meant[at] || v.d.meant[table] || name == "bytes" && v.d.meant[join(table, "count")] {
		return // it is there, misspelt, which has been reported
	}
	if it, given := v.item(join(table, "preset")); given && it.value == nil {
		return // the right preset may have it, or take none
	}
	e := &Error{File: v.d.file, Key: v.d.display(at), Text: "missing; " + expected, Hint: hint}
	if n := v.d.tableNode(table); n != nil && n.file == "" {
		e.Line = n.line
	}
	v.d.errs.add(e)
}

// fail reports what is wrong with a key, or with a table.
func (v *view) fail(at string, p problem) { v.d.errs.add(v.err(at, p)) }

func (v *view) err(at string, p problem) *Error {
	if it, ok := v.item(at); ok && it.node != nil {
		return v.d.at(it.node, at, p)
	}
	e := &Error{File: v.d.file, Key: v.d.display(at), Text: p.text, Hint: p.hint}
	table := at
	for table != "" && v.d.tableNode(table) == nil {
		table = table[:max(strings.LastIndexByte(table, '.'), 0)]
	}
	if n := v.d.tableNode(table); table != "" && n.file == "" {
		e.Line = n.line
	}
	return e
}

// use notes that keys had a meaning.
func (v *view) use(paths ...string) {
	for _, at := range paths {
		v.used[at] = true
	}
}

// tableNode returns the table at a numbered path, nil if it is not there.
func (d *Document) tableNode(at string) *node {
	p, ok := parsePath(at)
	if !ok {
		return nil
	}
	n := d.root
	for _, one := range p {
		if n = n.child(one.name); n == nil {
			return nil
		}
		if n.shape == array && one.index >= 0 && one.index < len(n.items) {
			n = n.items[one.index]
		}
	}
	return n
}
