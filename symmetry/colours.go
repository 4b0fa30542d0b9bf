package symmetry

// Colours number colours in the order in which they are first asked for. The colour of a vertex is
// all that distinguishes it from others at first sight.
type Colours[K comparable] map[K]int32

// Number returns the number of a colour, and whether it is a new one.
func (c Colours[K]) Number(colour K) (number int32, isNew bool) {
	number, isKnown := c[colour]
	if !isKnown {
		number = int32(len(c))
		c[colour] = number
	}
	return number, !isKnown
}

// NumberText returns the number of a colour given as text, and whether it is a new one. It copies
// the text only then.
func NumberText(c Colours[string], text []byte) (number int32, isNew bool) {
	if number, isKnown := c[string(text)]; isKnown {
		return number, false
	}
	return c.Number(string(text))
}
