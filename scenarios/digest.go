package scenarios

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// Digest returns 16 hexadecimal digits of what a point means: of all its values, whichever file or
// flag they come from. Points of equal digests have equal results, if the files of data that they
// name have the same content.
func (p *Point) Digest(version string) string {
	point := *p
	point.Forward = nil // of a backward pass; it has the same values
	return digestOf(point, version)
}

func digestOf(v any, version string) string {
	h := sha256.New()
	fmt.Fprintln(h, version)
	digest(h, reflect.ValueOf(v))
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// digest writes a value and all that it refers to. Types and lengths are written, too, so that
// different values never give the same text. A field with the tag digest:"-" is left out, since it
// follows from others.
func digest(w io.Writer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			fmt.Fprint(w, "nil;")
			return
		}
		digest(w, v.Elem())
	case reflect.Struct:
		fmt.Fprintf(w, "%s{", v.Type())
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.Tag.Get("digest") != "-" {
				fmt.Fprintf(w, "%s:", field.Name)
				digest(w, v.Field(i))
			}
		}
		fmt.Fprint(w, "}")
	case reflect.Slice, reflect.Array:
		fmt.Fprintf(w, "[%d:", v.Len())
		for i := range v.Len() {
			digest(w, v.Index(i))
		}
		fmt.Fprint(w, "]")
	case reflect.String:
		fmt.Fprintf(w, "%q;", v.String())
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int {
			return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
		})
		fmt.Fprintf(w, "[%d:", len(keys))
		for _, key := range keys {
			digest(w, key)
			digest(w, v.MapIndex(key))
		}
		fmt.Fprint(w, "]")
	case reflect.Func, reflect.Chan:
		panic("scenarios: a point has a " + v.Kind().String())
	default:
		fmt.Fprintf(w, "%v;", v)
	}
}
