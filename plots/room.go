package plots

import (
	xfont "golang.org/x/image/font"
)

// room returns the width to reserve for a text. Where the picture names its font without embedding
// it, a viewer may substitute another. On Linux that is DejaVu Sans, the widest of the common ones,
// wider by a sixth and more.
func (f typeface) room(s string) length {
	width := f.Width(s)
	if !f.named {
		return width
	}
	return max(width, dejaVu(s, f.Font.Weight == xfont.WeightBold)*f.size()/dejaVuEm)
}

// dejaVuEm is the em of DejaVu, in the units of its advance widths.
const dejaVuEm = 2048

// dejaVu returns the width of a text in DejaVu Sans; for letters beyond ASCII an upper bound.
func dejaVu(s string, bold bool) (units length) {
	widths := dejaVuSans()
	if bold {
		widths = dejaVuSansBold()
	}
	for _, r := range s {
		if i := int(r) - ' '; i >= 0 && i < len(widths) {
			units += length(widths[i])
		} else {
			units += dejaVuEm
		}
	}
	return units
}

// dejaVuSans lists the advance widths of ' ' to '~' in DejaVu Sans 2.37, from its table hmtx.
func dejaVuSans() []uint16 {
	return []uint16{
		651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690,
		1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716,
		1087, 2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767,
		1532, 1612, 1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690,
		799, 1716, 1024, 1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569,
		1995, 1298, 1253, 1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303,
		690, 1303, 1716,
	}
}

// dejaVuSansBold lists those of DejaVu Sans Bold 2.37.
func dejaVuSansBold() []uint16 {
	return []uint16{
		713, 934, 1067, 1716, 1425, 2052, 1786, 627, 936, 936, 1071, 1716, 778, 850, 778, 748,
		1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 819, 819, 1716, 1716, 1716,
		1188, 2048, 1585, 1561, 1503, 1700, 1399, 1399, 1681, 1714, 762, 762, 1587, 1305, 2038,
		1714, 1741, 1501, 1741, 1577, 1475, 1397, 1663, 1585, 2259, 1579, 1483, 1485, 936, 748,
		936, 1716, 1024, 1024, 1382, 1466, 1214, 1466, 1389, 891, 1466, 1458, 702, 702, 1362, 702,
		2134, 1458, 1407, 1466, 1466, 1010, 1219, 979, 1458, 1335, 1892, 1321, 1335, 1192, 1458,
		748, 1458, 1716,
	}
}
