package schedule

// usualClass returns the class of a step's connections if the text does not name another.
func usualClass(name string) Class {
	switch name {
	case "signal", "wait":
		return Pad
	case "put":
		return Puts
	}
	return FIFO
}
