package scenarios

import "strings"

// Refusal reports what is wrong with a point, at one of its keys, as "collective.dtype". Only the
// run of the point can find it. Scenario.Locate finds its line.
type Refusal struct {
	Point      *Point
	Key        string
	Text, Hint string // what is wrong and what was expected; how to put it right, or empty
}

// Error returns a text such as "all_reduce/ring/1024: collective.dtype: …".
func (r *Refusal) Error() string {
	text := r.Point.ID + ": " + r.Key + ": " + r.Text
	if r.Hint != "" {
		text += "\n  " + r.Hint
	}
	return text
}

// Refuse makes a refusal of the point.
func (p *Point) Refuse(key, text, hint string) *Refusal { return &Refusal{p, key, text, hint} }

// origin returns the document as a point sees it; nil for a point without a document.
func (s *Scenario) origin(p *Point) *view {
	for p.Forward != nil {
		p = p.Forward
	}
	if see := s.views[p.ID]; see != nil {
		return see()
	}
	return nil
}

// Locate returns a refusal with its line. A point without a file has none.
func (s *Scenario) Locate(r *Refusal) *Error {
	v := s.origin(r.Point)
	if v == nil {
		return &Error{File: r.Point.ID, Key: r.Key, Text: r.Text, Hint: r.Hint}
	}
	return v.err(r.Point.place(r.Key), problem{r.Text, r.Hint})
}

// Given reports whether the file says something of a point's key, as "topology.node.preset", or
// leaves it to its default.
func (s *Scenario) Given(p *Point, key string) bool {
	v := s.origin(p)
	return v != nil && v.has(p.place(key))
}

// place returns the numbered path of a key of this point.
func (p *Point) place(key string) string {
	if p.Forward != nil {
		key = gradientKey(key)
	}
	if name, ok := strings.CutPrefix(key, "collective."); ok {
		return numbered("collective", p.Number) + "." + name
	}
	return key
}
