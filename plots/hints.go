package plots

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// mostHints is the most texts of a picture: those of more bars would take most of the file.
const mostHints = 3000

// hint is a text of a box, which viewers show under the pointer and screen readers read.
type hint struct {
	box
	text string
}

// hint adds a text to a box. Formats other than SVG have none.
func (c *canvas) hint(b box, text string) {
	if c.hinted && len(c.hints) < mostHints {
		c.hints = append(c.hints, hint{b, text})
	}
}

// annotated adds the picture's title, for screen readers, and its hints: boxes that show nothing,
// on top of all. Their y grows downwards, as in the rest of SVG.
func (c *canvas) annotated(svg []byte) []byte {
	var head, tail bytes.Buffer
	head.WriteString("<svg")
	begin := []byte("<svg")
	before, rest, _ := bytes.Cut(svg, begin)
	open, rest, _ := bytes.Cut(rest, []byte(">"))
	head.Write(open)
	head.WriteString(" role=\"img\">")
	writeTitle(&head, c.name)
	rest, _, _ = bytes.Cut(rest, []byte("</svg>"))
	if len(c.hints) > 0 {
		tail.WriteString("<g fill=\"#fff\" fill-opacity=\"0\">\n")
	}
	for _, h := range c.hints {
		fmt.Fprintf(&tail, "<rect x=\"%.4g\" y=\"%.4g\" width=\"%.3g\" height=\"%.3g\">", h.x0, h.y0,
			h.x1-h.x0, h.y1-h.y0)
		writeTitle(&tail, h.text)
		tail.WriteString("</rect>\n")
	}
	if len(c.hints) > 0 {
		tail.WriteString("</g>\n")
	}
	tail.WriteString("<!-- " + Software + " -->\n</svg>\n")
	return bytes.Join([][]byte{before, head.Bytes(), rest, tail.Bytes()}, nil)
}

func writeTitle(b *bytes.Buffer, text string) {
	if text == "" {
		return
	}
	b.WriteString("<title>")
	_ = xml.EscapeText(b, []byte(printable(text))) // a buffer takes everything
	b.WriteString("</title>")
}
