package program

import "slices"

// names are those of the ops that it has become of.
func (r *resolved) names() []string {
	if r.members != nil {
		return r.members
	}
	return []string{r.Name}
}

// answers are the names by which ops that come after it wait for it.
func (r *resolved) answers() []string { return append(slices.Clone(r.names()), r.of...) }

// reads are the tensors that it reads, by the names of the program.
func (r *resolved) reads() []string {
	if r.members != nil {
		return r.from
	}
	return r.In
}

// writes are the tensors that it writes.
func (r *resolved) writes() []string {
	switch {
	case r.members != nil:
		return r.to
	case r.Out == "":
		return nil
	}
	return []string{r.Out}
}

// touches are the tensors that it reads and writes.
func (r *resolved) touches() []string { return slices.Concat(r.reads(), r.writes()) }
