package schedule

import "strconv"

// affine is a number that varies with the lane, by its number l, and with the iterations of loops:
// base + Σ stride · variable.
type affine struct {
	base    int64
	strides [maxLoops + 1]int32
}

// affineOf returns a bundle's variable as the text form shows it. Programs count from the bundle's
// first lane; the text's l counts from lane 0.
func affineOf(u *bundle, base int32, strides [maxLoops + 1]int32) affine {
	return affine{int64(base) - int64(strides[0])*int64(u.first), strides}
}

// own returns the number of a lane of the bundle.
func (u *bundle) own() affine {
	if u.count == 1 {
		return affine{base: int64(u.first)}
	}
	return affine{strides: [maxLoops + 1]int32{1}}
}

const variableNames = "lijkm"

// String formats the number, such as "7-i", "2+3j+l" or "0".
func (a affine) String() string {
	text := ""
	if a.base != 0 || a.strides == [maxLoops + 1]int32{} {
		text = strconv.FormatInt(a.base, 10)
	}
	for d, s := range a.strides {
		if s == 0 {
			continue
		}
		if s > 0 && text != "" {
			text += "+"
		}
		switch s {
		case 1:
		case -1:
			text += "-"
		default:
			text += strconv.Itoa(int(s))
		}
		text += variableNames[d : d+1]
	}
	return text
}
