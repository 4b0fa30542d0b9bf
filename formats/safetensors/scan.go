package safetensors

import (
	"strings"

	"collsim/formats/internal/tensor"
)

// scanHeader parses a header in the form that writers produce: strings without escapes, known keys,
// each once. A million tensors take about a second. It returns false for anything else, right or
// wrong, which parseHeader then reads or refuses.
func scanHeader(header string) (entries []entry, ok bool) {
	if !strings.HasPrefix(header, "{") {
		return nil, false
	}
	s := scanner{text: header}
	const usual = 72 // bytes for a tensor
	names := make(map[string]bool, len(header)/usual)
	entries = make([]entry, 0, len(header)/usual)
	ok = s.object(func(name string) bool {
		if names[name] {
			return false
		}
		names[name] = true
		if name == Metadata {
			return s.metadata()
		}
		entries = append(entries, entry{array: tensor.Array{Name: name}})
		return s.entry(&entries[len(entries)-1])
	})
	s.blanks()
	return entries, ok && s.at == len(s.text)
}

// scanner parses a header. Each of its methods returns false if something else comes next.
type scanner struct {
	text  string
	at    int
	sizes []int64 // memory that shapes are cut from
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// take consumes a character.
func (s *scanner) take(c byte) bool {
	s.blanks()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// list parses the items between two brackets, with commas between them.
func (s *scanner) list(open, closed byte, each func() bool) bool {
	if !s.take(open) {
		return false
	}
	if s.take(closed) {
		return true
	}
	for each() {
		if s.take(closed) {
			return true
		}
		if !s.take(',') {
			break
		}
	}
	return false
}

// object parses an object and calls value with every key.
func (s *scanner) object(value func(key string) bool) bool {
	return s.list('{', '}', func() bool {
		key, ok := s.word()
		return ok && s.take(':') && value(key)
	})
}

// word parses a string without escapes.
func (s *scanner) word() (string, bool) {
	if !s.take('"') {
		return "", false
	}
	from := s.at
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[from : s.at-1], true
		case c == '\\' || c < ' ':
			return "", false
		}
	}
	return "", false
}

// integer parses a whole number of at most 18 digits.
func (s *scanner) integer() (n int64, ok bool) {
	s.blanks()
	from := s.at
	for ; s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9'; s.at++ {
		n = 10*n + int64(s.text[s.at]-'0')
	}
	digits := s.at - from
	return n, digits == 1 || 1 < digits && digits <= 18 && s.text[from] != '0'
}

// integers parses a list of whole numbers.
func (s *scanner) integers() ([]int64, bool) {
	if cap(s.sizes)-len(s.sizes) < 64 {
		s.sizes = make([]int64, 0, 4096)
	}
	from := len(s.sizes)
	ok := s.list('[', ']', func() bool {
		n, ok := s.integer()
		s.sizes = append(s.sizes, n)
		return ok
	})
	return s.sizes[from:len(s.sizes):len(s.sizes)], ok
}

// entry parses the entry of a tensor: three keys.
func (s *scanner) entry(e *entry) bool {
	var dtype, shape, offsets bool
	ok := s.object(func(key string) (ok bool) {
		switch {
		case key == "dtype" && !dtype:
			var name string
			name, dtype = s.word()
			return dtype && setType(&e.array, name) == nil
		case key == "shape" && !shape:
			e.array.Shape, shape = s.integers()
			return shape
		case key == "data_offsets" && !offsets:
			offsets = s.offsets(e)
			return offsets
		}
		return false
	})
	return ok && dtype && shape && offsets
}

// offsets parses the begin and the end of a tensor.
func (s *scanner) offsets(e *entry) (ok bool) {
	if !s.take('[') {
		return false
	}
	if e.begin, ok = s.integer(); !ok || !s.take(',') {
		return false
	}
	e.end, ok = s.integer()
	return ok && s.take(']')
}

// metadata parses the metadata of the file: strings, each once.
func (s *scanner) metadata() bool {
	keys := map[string]bool{}
	return s.object(func(key string) bool {
		_, ok := s.word()
		again := keys[key]
		keys[key] = true
		return ok && !again
	})
}
