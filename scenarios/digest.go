package scenarios

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
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
	sum := sha256.Sum256(digest(append([]byte(version), '\n'), reflect.ValueOf(v)))
	return hex.EncodeToString(sum[:])[:16]
}

// digest appends a value and all that it refers to. Types and lengths are written, too, so that
// different values never give the same text. A field with the tag digest:"-" is left out, since it
// follows from others, and one with the tag digest:"set" where it is zero.
func digest(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, "nil;"...)
		}
		return digest(b, v.Elem())
	case reflect.Struct:
		t := v.Type()
		b = append(append(b, t.String()...), '{')
		for i := range v.NumField() {
			field := t.Field(i)
			tag := field.Tag.Get("digest")
			if tag != "-" && (tag != "set" || !v.Field(i).IsZero()) {
				b = digest(append(append(b, field.Name...), ':'), v.Field(i))
			}
		}
		return append(b, '}')
	case reflect.Slice, reflect.Array:
		b = append(strconv.AppendInt(append(b, '['), int64(v.Len()), 10), ':')
		for i := range v.Len() {
			b = digest(b, v.Index(i))
		}
		return append(b, ']')
	case reflect.String:
		return append(strconv.AppendQuote(b, v.String()), ';')
	case reflect.Bool:
		return append(strconv.AppendBool(b, v.Bool()), ';')
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return append(strconv.AppendInt(b, v.Int(), 10), ';')
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return append(strconv.AppendUint(b, v.Uint(), 10), ';')
	case reflect.Float32, reflect.Float64:
		return append(strconv.AppendFloat(b, v.Float(), 'g', -1, 64), ';')
	case reflect.Map:
		return digestMap(b, v)
	default:
		panic("scenarios: a point has a " + v.Kind().String())
	}
}

// digestMap appends the keys and values of a map, sorted by key.
func digestMap(b []byte, v reflect.Value) []byte {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	b = append(strconv.AppendInt(append(b, '['), int64(len(keys)), 10), ':')
	for _, key := range keys {
		b = digest(digest(b, key), v.MapIndex(key))
	}
	return append(b, ']')
}
