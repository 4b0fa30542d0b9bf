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

// Classes divide vertices into classes, numbered in the order of their representatives.
type Classes struct {
	Of   []int32 // class of each vertex
	Reps []int32 // of each class: its first vertex
	Size []int32 // of each class: number of vertices
}

// Add appends a vertex of a class, which may be the next new one. It reports whether it is.
func (c *Classes) Add(class int32) (isNew bool) {
	if isNew = int(class) == len(c.Reps); isNew {
		c.Reps, c.Size = append(c.Reps, int32(len(c.Of))), append(c.Size, 0)
	}
	c.Of = append(c.Of, class)
	c.Size[class]++
	return isNew
}
