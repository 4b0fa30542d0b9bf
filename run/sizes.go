package run

import (
	"collsim/formats"
	"collsim/proof"
	"collsim/unit"
)

// SizeRange is a range of sizes of nccl-tests' vector, and the verdict on a file at all of them.
type SizeRange struct {
	From, To unit.Bytes // both included; To 0: any that are larger
	Judged   bool       // else there are more steps than are judged
	// Violation is the first at From; nil if there is none.
	Violation *Violation
}

// mostJudged bounds the steps that are judged at one size other than the requested one, and
// mostJudgedInAll those at all such sizes.
const (
	mostJudged      = 1 << 20
	mostJudgedInAll = 1 << 22
)

// sizeRanges judges a file at all sizes that make other messages of its steps, and joins ranges of
// one verdict. found is what is wrong at the size that it was read at.
func sizeRanges(name string, f *formats.File, o VerifyOptions,
	found []Violation) (all []SizeRange) {
	left := int64(mostJudgedInAll)
	o.NoTraffic = true
	for _, r := range f.Ranges {
		size := SizeRange{From: r.From, To: r.To, Judged: true}
		switch {
		case r.Read == nil && len(found) > 0:
			size.Violation = &found[0]
		case r.Read == nil:
		case r.Steps > min(left, mostJudged):
			size.Judged = false
		default:
			left -= r.Steps
			size.Judged, size.Violation = judgedAt(name, f, r.Read, o)
		}
		if n := len(all); n > 0 && all[n-1].alike(&size) {
			all[n-1].To = size.To
			continue
		}
		all = append(all, size)
	}
	return all
}

// alike reports whether two ranges have one verdict.
func (r *SizeRange) alike(o *SizeRange) bool {
	return r.Judged == o.Judged && (r.Violation == nil) == (o.Violation == nil) &&
		(r.Violation == nil || r.Violation.Kind == o.Violation.Kind)
}

// judgedAt proves a file at another size and returns the first violation. judged is false where
// the file cannot have that size.
func judgedAt(name string, f *formats.File, read func() (*formats.File, error),
	o VerifyOptions) (judged bool, first *Violation) {
	other, err := read()
	if err != nil {
		return false, nil
	}
	other.Format = f.Format
	found := other.Found
	if len(found) == 0 {
		s, options := provable(other, o)
		_, found = proof.Verify(s, options)
	}
	if len(found) == 0 {
		return true, nil
	}
	x := placed(name, other, found[0])
	return true, &x
}
