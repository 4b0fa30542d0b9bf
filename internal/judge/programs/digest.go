package programs

import (
	"crypto/sha256"
	"encoding/hex"
)

// Results holds the results of a program on all ranks.
type Results struct {
	Names  []string // ascending
	Exact  bool     // every correct execution gives these bits
	values map[string][]*tensor
}

// Bytes returns a result's elements on a rank, in the form of the digest; nil if the program
// defines none there.
func (r *Results) Bytes(name string, rank int) []byte {
	t := r.values[name][rank]
	if t == nil {
		return nil
	}
	return t.typ.encode(t.list)
}

// Values returns a result's elements on a rank, as float64.
func (r *Results) Values(name string, rank int) (list []float64) {
	for _, x := range r.values[name][rank].list {
		list = append(list, x.f)
	}
	return list
}

// Numbers decodes elements of a type of floats.
func Numbers(typ string, data []byte) (list []float64) {
	t, _ := typeOf(typ)
	for _, x := range t.decode(data) {
		list = append(list, x.f)
	}
	return list
}

// Digest returns the SHA-256 of all results, in hexadecimal. It covers the results in ascending
// byte order of their names: the name, a zero byte, and the elements that the program defines on
// each rank, in order of rank. Elements are in row-major order, little-endian in the tensor's type.
// −0 counts as +0, and every NaN as the positive quiet one without payload.
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
