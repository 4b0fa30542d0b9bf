package plots_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/plots"
)

// TestPixels: a picture has the same pixels on every processor. The digests were written on amd64;
// on arm64, where a product and a sum may be rounded once, they were others until all of a picture
// was rasterised in integers. It is pixels that are compared, not files: Go may pack them better.
func TestPixels(t *testing.T) {
	var text strings.Builder
	figures := []plots.Figure{plots.Page, plots.Column, plots.Slide}
	few := !tier.Long && !*update
	if few { // a column has the fewest pixels
		figures = figures[1:2]
	}
	for _, g := range figures {
		for n, picture := range pictures(t, plots.PNG, g, 0) {
			img, err := png.Decode(bytes.NewReader(picture))
			require.NoError(t, err)
			require.Equal(t, map[plots.Figure]int{plots.Page: 2041, plots.Column: 998,
				plots.Slide: 1920}[g], img.Bounds().Dx()) // 180 mm, 88 mm; 288 dots per inch
			if g == plots.Slide {
				require.Equal(t, 1080, img.Bounds().Dy())
			}
			pixels := image.NewRGBA(img.Bounds())
			draw.Draw(pixels, pixels.Rect, img, image.Point{}, draw.Src)
			fmt.Fprintf(&text, "%v %d %v %x\n", g, n, pixels.Rect.Max, sha256.Sum256(pixels.Pix))
		}
	}
	file := filepath.Join("testdata", "pixels.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if few {
		require.Contains(t, string(want), "\n"+text.String(), "look at the pictures")
		return
	}
	require.Equal(t, string(want), text.String(), "look at the pictures, then run with -update")
}
