package report

// field is a member of the JSON object of a T: its form, how it is written and how it is read.
type field[T any] struct {
	name     string
	form     Form
	optional bool // left out where it is null
	value    func(*T) Value
	set      func(*T, Value) // takes in a value that is not null; nil if it follows from others
	none     func(*T)        // takes in null; nil if that is the zero value
}

// fields lists the members of the JSON object of a T, in their order.
type fields[T any] []field[T]

// write makes the object.
func (l fields[T]) write(of *T) Value {
	var all members
	for _, f := range l {
		if v := f.value(of); v.kind != isNull || !f.optional {
			all = append(all, member{f.name, v})
		}
	}
	return object(all)
}

// writeAny makes the object, null for nil.
func (l fields[T]) writeAny(of *T) Value {
	if of == nil {
		return Value{}
	}
	return l.write(of)
}

// read sets a T to what an object says, which has the form of the list.
func (l fields[T]) read(v Value, into *T) {
	for _, f := range l {
		switch one, there := v.member(f.name); {
		case there && one.kind != isNull && f.set != nil:
			f.set(into, one)
		case f.none != nil:
			f.none(into)
		}
	}
}

// form describes the object.
func (l fields[T]) form() Form {
	o := anObject()
	for _, f := range l {
		o.Members = append(o.Members, Member{f.name, f.form, f.optional})
	}
	return o
}

// partOf makes the fields of a T of those of a part of it. get returns the part, nil if there is
// none; then they are null. make returns the part, and makes it if need be.
func partOf[T, U any](list fields[U], get, make func(*T) *U) (all fields[T]) {
	for _, f := range list {
		f.form.Null = true
		one := field[T]{name: f.name, form: f.form, optional: f.optional, value: func(t *T) Value {
			if u := get(t); u != nil {
				return f.value(u)
			}
			return Value{}
		}}
		if f.set != nil {
			one.set = func(t *T, v Value) { f.set(make(t), v) }
		}
		all = append(all, one)
	}
	return all
}

// when makes a field null where a T has no value of it.
func (f field[T]) when(is func(*T) bool) field[T] {
	f.form.Null = true
	of := f.value
	f.value = func(t *T) Value { return known(is(t), of(t)) }
	return f
}

// ifAny leaves a field out where it is null.
func (f field[T]) ifAny() field[T] {
	f.optional = true
	return f
}

// ifSet leaves a field out where it has no value: 0, false, or an empty text.
func (f field[T]) ifSet() field[T] {
	return f.when(func(t *T) bool {
		v := f.value(t)
		return v.whole != 0 || v.number != 0 || v.text != "" || len(v.list)+len(v.members) > 0
	}).ifAny()
}

// wholeField makes a field of a whole number: a count, bytes, picoseconds.
func wholeField[T any, N ~int | ~int32 | ~int64](name string, at func(*T) *N) field[T] {
	return field[T]{name: name, form: aWhole(),
		value: func(t *T) Value { return Int(int64(*at(t))) },
		set:   func(t *T, v Value) { *at(t) = N(v.whole) }}
}

// naturalField makes a field of a number that is −1 where there is none, which is null in JSON.
func naturalField[T any, N ~int | ~int32 | ~int64](name string, at func(*T) *N) field[T] {
	f := wholeField(name, at)
	f.form.Null = true
	f.value = func(t *T) Value { return natural(int64(*at(t))) }
	f.none = func(t *T) { *at(t) = -1 }
	return f
}

// numberField makes a field of a number; infinities and NaN are null.
func numberField[T any](name string, at func(*T) *float64) field[T] {
	return field[T]{name: name, form: aNumber(),
		value: func(t *T) Value { return Number(*at(t)) },
		set:   func(t *T, v Value) { *at(t) = v.float() }}
}

// textField makes a field of a text, or of one of few.
func textField[T any](name string, at func(*T) *string, only ...string) field[T] {
	return field[T]{name: name, form: aText(only...),
		value: func(t *T) Value { return Text(*at(t)) },
		set:   func(t *T, v Value) { *at(t) = v.text }}
}

// boolField makes a field of true or false.
func boolField[T any](name string, at func(*T) *bool) field[T] {
	return field[T]{name: name, form: aBool(),
		value: func(t *T) Value { return Bool(*at(t)) },
		set:   func(t *T, v Value) { *at(t) = v.whole == 1 }}
}

// textsField makes a field of a list of texts.
func textsField[T any](name string, at func(*T) *[]string) field[T] {
	return field[T]{name: name, form: anArray(aText()),
		value: func(t *T) Value { return listOf(*at(t), Text) },
		set: func(t *T, v Value) {
			*at(t) = nil
			for _, one := range v.list {
				*at(t) = append(*at(t), one.text)
			}
		}}
}

// wholesField makes a field of a list of whole numbers.
func wholesField[T any](name string, at func(*T) *[]int) field[T] {
	return field[T]{name: name, form: anArray(aWhole()),
		value: func(t *T) Value { return listOf(*at(t), Int[int]) },
		set: func(t *T, v Value) {
			*at(t) = nil
			for _, one := range v.list {
				*at(t) = append(*at(t), int(one.whole))
			}
		}}
}

// ownField makes a field that is written and read in a way of its own.
func ownField[T any](name string, form Form, value func(*T) Value,
	set func(*T, Value)) field[T] {
	return field[T]{name: name, form: form, value: value, set: set}
}

// derivedField makes a field that follows from others.
func derivedField[T any](name string, form Form, value func(*T) Value) field[T] {
	return field[T]{name: name, form: form, value: value}
}

// objectField makes a field of an object, null where at gives nil.
func objectField[T, U any](name string, list fields[U], at func(*T) **U) field[T] {
	return field[T]{name: name, form: list.form().orNull(),
		value: func(t *T) Value { return list.writeAny(*at(t)) },
		set: func(t *T, v Value) {
			*at(t) = new(U)
			list.read(v, *at(t))
		}}
}

// structField makes a field of an object that is always there.
func structField[T, U any](name string, list fields[U], at func(*T) *U) field[T] {
	return field[T]{name: name, form: list.form(),
		value: func(t *T) Value { return list.write(at(t)) },
		set:   func(t *T, v Value) { list.read(v, at(t)) }}
}

// listField makes a field of a list of objects.
func listField[T, U any](name string, list fields[U], at func(*T) *[]U) field[T] {
	return field[T]{name: name, form: anArray(list.form()),
		value: func(t *T) Value { return list.all(*at(t)) },
		set: func(t *T, v Value) {
			*at(t) = nil
			if len(v.list) > 0 {
				*at(t) = make([]U, len(v.list))
			}
			for i, one := range v.list {
				list.read(one, &(*at(t))[i])
			}
		}}
}

// all makes a list of objects.
func (l fields[T]) all(items []T) Value {
	v := array()
	for i := range items {
		v.list = append(v.list, l.write(&items[i]))
	}
	return v
}
