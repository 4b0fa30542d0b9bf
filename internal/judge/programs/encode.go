package programs

import "fmt"

// Encode encodes whole numbers as elements of a type: little-endian, like Inputs.
func Encode(typ string, values []int64) ([]byte, error) {
	t, known := typeOf(typ)
	if !known {
		return nil, fmt.Errorf("the type %q is not known", typ)
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

// Canonical converts elements to the form of the digest.
func Canonical(typ string, data []byte) []byte {
	t, _ := typeOf(typ)
	return t.encode(t.decode(data))
}
