package reference

import (
	"collsim/collective"
	"collsim/dtype"
)

// localRanks and localCount bound the ranks and elements on which a local gradient is checked: all
// its pieces follow one rule.
const (
	localRanks = 64
	localCount = 64
)

// AdjointLocal checks the law of local gradients. It counts elements that differ from the full
// gradient where no other rank's output contributes, and returns the count that was checked.
func AdjointLocal(spec collective.Spec, seed uint64) (wrong, count int64, err error) {
	spec.Type, spec.InPlace = dtype.Uint64, false
	spec.Ranks = min(spec.Ranks, localRanks)
	spec.Count = min(spec.Count, localCount)
	rows := spec.Splits[:min(len(spec.Splits), spec.Ranks)]
	spec.Splits = nil
	for _, row := range rows {
		few := make([]int64, spec.Ranks)
		for i := range few {
			few[i] = min(row[i], localCount)
		}
		spec.Splits = append(spec.Splits, few)
	}
	g, err := collective.Gradient(spec)
	if err != nil {
		return 0, 0, err
	}
	gradients, err := Inputs[uint64](g.Spec, Uniform, seed)
	if err != nil {
		return 0, 0, err
	}
	for rank := range spec.Ranks {
		alone := make([][]uint64, spec.Ranks)
		for other := range alone {
			if alone[other] = make([]uint64, len(gradients[other])); other == rank {
				copy(alone[other], gradients[other])
			}
		}
		full, err := Define(g.Spec, alone)
		if err != nil {
			return 0, 0, err
		}
		local, err := collective.LocalGradient(spec, rank)
		if err != nil {
			return 0, 0, err
		}
		wrong += shareWrong(local.Pieces, gradients[rank], full[rank])
	}
	return wrong, countOf(&spec), nil
}

// shareWrong counts the wrong elements of a rank's share.
func shareWrong(pieces []collective.Piece, own, want []uint64) (wrong int64) {
	next := int64(0)
	for _, piece := range pieces {
		for i := range piece.Len {
			value := uint64(0)
			if piece.From != collective.Zero {
				value = own[piece.InOff+i]
			}
			if piece.Off+i != next || value != want[piece.Off+i] {
				wrong++
			}
			next++
		}
	}
	return wrong + int64(len(want)) - next
}
