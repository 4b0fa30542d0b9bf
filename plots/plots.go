package plots

import (
	"image/color"

	"collsim/trace"
)

// look is the appearance of a kind of step.
type look struct {
	letter string
	name   string
	fill   color.RGBA
	ink    color.RGBA // of a label on fill
}

// lookOf returns the look of a kind. Colours: Okabe and Ito, "Color universal design", 2008,
// without their yellow, which does not show on white.
func lookOf(k trace.Kind) look {
	switch k {
	case trace.Send:
		return look{"S", "send", rgb(0x0072B2), white()}
	case trace.Recv:
		return look{"R", "receive", rgb(0x56B4E9), black()}
	case trace.Reduce:
		return look{"+", "reduce", rgb(0xE69F00), black()}
	case trace.Copy:
		return look{"=", "copy", rgb(0x009E73), black()}
	case trace.Signal:
		return look{"!", "signal", rgb(0xCC79A7), black()}
	case trace.Compute:
		return look{"C", "compute", rgb(0x999999), black()}
	}
	panic("plots: no look for " + k.String()) // Validate has refused others
}

// kindCount is the number of kinds.
const kindCount = 6

// kinds lists every kind, in the order of a legend.
func kinds() [kindCount]trace.Kind {
	return [...]trace.Kind{trace.Send, trace.Recv, trace.Reduce, trace.Copy, trace.Signal,
		trace.Compute}
}

func waitingGrey() color.RGBA { return rgb(0xE8E8E8) }
func gridGrey() color.RGBA    { return rgb(0xD4D4D4) }
func arrowGrey() color.RGBA   { return rgb(0x6E6E6E) }
func captionGrey() color.RGBA { return rgb(0x595959) }
func black() color.RGBA       { return rgb(0x000000) }
func white() color.RGBA       { return rgb(0xFFFFFF) }

func rgb(c uint32) color.RGBA {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
}
