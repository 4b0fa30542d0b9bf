package collective

import (
	"encoding/binary"

	"collsim/dtype"
)

// Key is a Spec as a comparable value, for maps: Specs are equal if and only if their keys are.
type Key struct {
	kind    Kind
	op      Op
	typ     dtype.Type
	ranks   int
	root    int
	count   int64
	splits  string // the number of rows, then each row behind its length
	inPlace bool
	avg     AvgMode
	factor  float64
}

// Key returns the Spec as a comparable value.
func (s Spec) Key() Key {
	k := Key{kind: s.Kind, op: s.Op, typ: s.Type, ranks: s.Ranks, root: s.Root, count: s.Count,
		inPlace: s.InPlace, avg: s.Avg, factor: s.Factor}
	if s.Splits == nil {
		return k
	}
	text := binary.AppendUvarint(nil, uint64(len(s.Splits)))
	for _, row := range s.Splits {
		text = binary.AppendUvarint(text, uint64(len(row)))
		for _, n := range row {
			text = binary.AppendVarint(text, n)
		}
	}
	k.splits = string(text)
	return k
}
