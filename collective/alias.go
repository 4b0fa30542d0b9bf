package collective

import "fmt"

// Extent is a range of a memory that a buffer occupies, in elements.
type Extent struct{ Off, Len int64 }

// CheckAlias returns an error if the input and the output of a rank may not be stored like this in
// one memory. They may be disjoint. They may overlap in the one way that is the kind's in-place
// form:
//
//	all_gather(v), gather        the input is the output's block of the rank
//	reduce_scatter(v), scatter   the output is the input's block of the rank
//	all_to_allv                  not at all: blocks have no common place
//	others                       the input is at the place of the output
//
// Everything else is refused: NCCL leaves it undefined.
func (s Spec) CheckAlias(rank int, in, out Extent) error {
	if in.Len == 0 || out.Len == 0 || in.Off+in.Len <= out.Off || out.Off+out.Len <= in.Off {
		return nil
	}
	if s.Kind == AllToAllV || s.Kind == Custom {
		return fmt.Errorf("%v: input and output of rank %d overlap; they must lie apart",
			s.Kind, rank)
	}
	i, o := s.Place(rank)
	if in.Off-out.Off == i-o {
		return nil
	}
	return fmt.Errorf("%v: the input of rank %d overlaps its output and begins %+d "+
		"elements from it; in place it begins at %+d, otherwise they must lie apart",
		s.Kind, rank, in.Off-out.Off, i-o)
}
