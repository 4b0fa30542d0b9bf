package reference

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"slices"

	"collsim/dtype"
)

// digest returns the SHA-256, in hexadecimal, of the results of a program. For each result, in the
// order of names, it hashes the name and a zero byte, then each rank's defined elements,
// little-endian. Zeros of both signs hash as +0, and all NaN as the quiet one of positive sign
// without payload. So equal programs have equal digests on data for which every order of additions
// gives the same.
func (v *definedValues) digest(got Tensors) string {
	list := results(v.s)
	slices.SortFunc(list, func(i, k int) int {
		return cmp.Compare(v.s.Tensors[i].Name, v.s.Tensors[k].Name)
	})
	h := sha256.New()
	for _, i := range list {
		io.WriteString(h, v.s.Tensors[i].Name+"\x00")
		width := int64(v.types[i].Width())
		for rank := range v.s.Spec.Ranks {
			for _, run := range v.known[i][rank] {
				h.Write(typeOf(v.types[i]).canonical(got[i][rank][run.Off*width : (run.Off+run.Len)*width]))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// canonical returns elements with one zero and one NaN.
func (as[T]) canonical(elements []byte) []byte {
	if !isFloat[T]() {
		return elements
	}
	const quiet = 0x7ff8 << 48 // math.NaN has a payload
	zero, nan := dtype.From[T](0), dtype.From[T](math.Float64frombits(quiet))
	list := getAll[T](elements)
	for i, x := range list {
		if value := dtype.Value(x); value == 0 {
			list[i] = zero
		} else if math.IsNaN(value) {
			list[i] = nan
		}
	}
	return put(list)
}
