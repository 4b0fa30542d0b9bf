package programs

import "fmt"

// Encode writes whole numbers as elements of a type: little-endian, as Inputs are.
func Encode(typ string, values []int64) ([]byte, error) {
	t, known := typeOf(typ)
	if !known {
		return nil, fmt.Errorf("programs: the type %q is not known", typ)
	}
	list := make([]number, len(values))
	for i, n := range values {
		if t.float {
			list[i].f = t.round(float64(n))
		} else {
			list[i].n = t.wrap(n)
		}
	}
	return t.encode(list), nil
}

// Canonical are elements as the digest has them.
func Canonical(typ string, data []byte) []byte {
	t, _ := typeOf(typ)
	return t.encode(t.decode(data))
}
