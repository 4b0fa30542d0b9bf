package scenarios

import "slices"

// readSweep reads [sweep]. Paths may be written in quotes or not: a table that is no range is a
// longer path.
func (d *Document) readSweep(n *node, before string) {
	for _, c := range n.items {
		text := join(before, c.name)
		p, ok := parsePath(text)
		isKey := ok && d.schema.byPath[p.plain()] != nil
		if c.shape == table && !isKey && len(c.items) > 0 && c.raw == "" {
			d.readSweep(c, text)
			continue
		}
		d.sweeps = append(d.sweeps, sweep{path: text, node: c})
	}
}

// mergeSweeps lets those of --set take the place of the file's, and reads the values of all.
func (d *Document) mergeSweeps() {
	for _, s := range d.sets {
		replaced := false
		for i := range d.sweeps {
			if d.sweeps[i].path == s.path {
				d.sweeps[i], replaced = s, true
			}
		}
		if !replaced {
			d.sweeps = append(d.sweeps, s)
		}
	}
	taken := map[string]bool{}
	for i := range d.sweeps {
		d.readSwept(&d.sweeps[i], taken)
	}
}

// readSwept finds the places of a swept key and reads its values. taken are the places that
// earlier entries sweep. What --set has given a value the file does not sweep.
func (d *Document) readSwept(s *sweep, taken map[string]bool) {
	fail := func(n *node, p *problem) {
		e := d.at(n, "", *p)
		e.Key = `sweep."` + shown(s.path) + `"`
		d.errs.add(e)
	}
	k, places, p := d.targets(s.path, func(k *Key) bool { return k.Sweep })
	if p != nil {
		fail(s.node, p)
		return
	}
	if !k.Sweep {
		fail(s.node, &problem{"this key cannot be swept", ""})
		return
	}
	if s.node.file == "" {
		places = slices.DeleteFunc(slices.Clone(places), func(at string) bool { return d.fixed[at] })
		if len(places) == 0 {
			return // --set has given it one value
		}
	}
	for _, at := range places {
		if taken[at] {
			fail(s.node, &problem{"swept twice", ""})
			return
		}
		taken[at] = true
	}
	s.key, s.places = k, places
	failed := false
	s.items = k.values(s.node, func(sub string, n *node, p *problem) {
		fail(n, p)
		failed = true
	})
	if failed {
		s.items = nil
	}
}
