package programs

import (
	"crypto/sha256"
	"encoding/hex"
)

// Results are the results of a program, on all ranks.
type Results struct {
	Names  []string // ascending
	Exact  bool     // whatever is carried out rightly gives these bits
	values map[string][]*tensor
}

// Bytes are a result's elements on a rank, in the form in which the digest has them; nil where the
// program defines none.
func (r *Results) Bytes(name string, rank int) []byte {
	t := r.values[name][rank]
	if t == nil {
		return nil
	}
	return t.typ.encode(t.list)
}

// Digest is the SHA-256, in hexadecimal digits, of all results: for every result in ascending order
// of the bytes of its name the name, a byte of zero, and for every rank ascending the elements that
// the program defines there, in row-major order, little-endian in the type of the tensor, with −0
// as +0 and every NaN as the quiet one of positive sign without payload.
func (r *Results) Digest() string {
	h := sha256.New()
	for _, name := range r.Names {
		h.Write([]byte(name))
		h.Write([]byte{0})
		for rank := range r.values[name] {
			h.Write(r.Bytes(name, rank))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
