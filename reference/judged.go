package reference

import (
	"encoding/binary"
	"fmt"

	"collsim/collective"
)

// Values are elements of tensors as little-endian bytes, by the tensor's name and by rank. A rank
// that has none of a tensor has nil.
type Values map[string][][]byte

// A Judged is a tensor of another implementation (theirs), held against the program in two ways:
// bit for bit against what the program's schedule computes (ours), and by rounding errors against
// its op alone. For the latter the op is computed on what theirs and the given tensors say of its
// operands, so that an op is not blamed for one before it.
type Judged struct {
	Tensor string
	Op     string // that writes it last, as a schedule has its name
	// Behind lists ops before it whose results are not among theirs, and that Op depends on by way of
	// such results alone: what is not what Op gives may be theirs.
	Behind []string
	// Elements are compared, on all ranks; Different of them have other bits than ours, on Ranks
	// ranks. All NaN are equal. MaxULP and MaxRelative are the largest distances to ours, as in a
	// Report: the unit is that of the largest addend of the op.
	Elements, Different int64
	Ranks               int
	MaxULP, MaxRelative float64
	First               *Differing // the first of the lowest rank with other bits
	// Beyond counts elements that are farther from the op's result than the bound for any order of
	// its additions, on BeyondRanks ranks. What differs from an op without a bound there is none of
	// them: Unbounded says that there are such.
	Beyond      int64
	BeyondRanks int
	FirstBeyond *Differing // of Beyond; Ours is the op's result
	Unbounded   bool
	Rounded     int64        // elements that are farther from the op's result than 0, and not beyond
	Calls       []JudgedCall // of an op that adds up over ranks, if elements differ
}

// A Differing is an element that differs.
type Differing struct {
	Rank         int
	Element      int64 // of the rank's tensor, in C order
	Theirs, Ours Bits
}

// Bits is an element as bits, such as 0x3f80, and in decimal.
type Bits struct{ Bits, Value string }

// String formats the element, such as "0x3f80 (1)".
func (b Bits) String() string { return b.Bits + " (" + b.Value + ")" }

// bitsOf formats an element of a type; the bits of a complex one as 0x3f800000,0x40000000.
func bitsOf(of typed, element []byte) Bits {
	if c, ok := of.(interface {
		parts(element []byte) (re, im []byte)
	}); ok {
		re, im := c.parts(element)
		return Bits{hexadecimal(re) + "," + hexadecimal(im), of.text(element)}
	}
	return Bits{hexadecimal(element), of.text(element)}
}

// hexadecimal formats up to eight little-endian bytes as a number.
func hexadecimal(element []byte) string {
	var wide [8]byte
	copy(wide[:], element)
	return fmt.Sprintf("0x%0*x", 2*len(element), binary.LittleEndian.Uint64(wide[:]))
}

// A JudgedCall is a reduction of a team that has written a tensor that differs: its part of the
// program's meaning, and its inputs by position. Spec counts complex numbers by their components.
// IsSure says that theirs computed on the same ones.
type JudgedCall struct {
	Part   int
	Spec   collective.Spec
	Ranks  []int
	Inputs [][]byte
	IsSure bool
}
