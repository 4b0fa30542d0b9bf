package program

import "slices"

// names returns the names of the ops that it was made from.
func (r *resolved) names() []string {
	if r.members != nil {
		return r.members
	}
	return []string{r.Name}
}

// answers returns the names by which later ops wait for it.
func (r *resolved) answers() []string { return append(slices.Clone(r.names()), r.of...) }

// reads returns the tensors that it reads, by the names of the program.
func (r *resolved) reads() []string {
	if r.members != nil {
		return r.from
	}
	return r.In
}

// writes returns the tensors that it writes.
func (r *resolved) writes() []string {
	switch {
	case r.members != nil:
		return r.to
	case r.Out == "":
		return nil
	}
	return []string{r.Out}
}

// touches returns the tensors that it reads and writes.
func (r *resolved) touches() []string { return slices.Concat(r.reads(), r.writes()) }
