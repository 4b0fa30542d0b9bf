package plots

import (
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/vg"
)

// TestDashes: marks and gaps in turn go on round a corner, and what has no length has no mark.
func TestDashes(t *testing.T) {
	at := func(x, y int) fixed.Point26_6 { return fixed.P(x, y) }
	corner := polyline{[]fixed.Point26_6{at(0, 0), at(10, 0), at(10, 10)}}
	for _, c := range []struct {
		dashes []int64
		want   []polyline
	}{
		{nil, []polyline{corner}},
		// 4 on, 3 off: 0…4, 7…11, which is 1 beyond the corner, 14…18 and the 21st has no room.
		{[]int64{4 * 64, 3 * 64}, []polyline{
			{[]fixed.Point26_6{at(0, 0), at(4, 0)}},
			{[]fixed.Point26_6{at(7, 0), at(10, 0), at(10, 1)}},
			{[]fixed.Point26_6{at(10, 4), at(10, 8)}}}},
		{[]int64{64 * 64, 3 * 64}, []polyline{corner}},
	} {
		require.Equal(t, c.want, corner.dashed(c.dashes))
	}
}

// TestPNGPixels: a box covers its pixels and no other, one that covers a quarter of a pixel
// greys it by as much, and a line of no length leaves no mark.
func TestPNGPixels(t *testing.T) {
	p := newPNG(4, 2) // 16 x 8 pixels
	c := canvas{painter: p, height: 2}
	var boxes, nothing vg.Path
	c.addBox(&boxes, box{0.25, 0.5, 1, 1})       // pixels 1…3, rows 2 and 3
	c.addBox(&boxes, box{2, 1.25, 2.125, 1.375}) // a quarter of pixel 8 of row 5
	c.addLine(&nothing, 3, 1, 3, 1)
	p.fill(boxes, color.Black)
	p.stroke(nothing, pen{width: 1, paint: color.Black, dashes: []length{1, 1}})
	for y := range 8 {
		for x := range 16 {
			want := uint8(255)
			switch {
			case x >= 1 && x <= 3 && (y == 2 || y == 3):
				want = 0
			case x == 8 && y == 5:
				want = 191 // 255 · 3/4
			}
			require.InDelta(t, want, p.pixels.RGBAAt(x, y).R, 1, "%d, %d", x, y)
		}
	}
	_, err := p.bytes()
	require.NoError(t, err)
}
