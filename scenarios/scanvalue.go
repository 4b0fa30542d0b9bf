package scenarios

import "strings"

// value reads any value. It does not move over what follows it.
func (s *scanner) value(depth int) (*node, bool) {
	n := &node{line: s.line}
	start := s.pos
	if depth > maxDepth {
		s.tooDeep = s.line
		return nil, false
	}
	ok := false
	switch {
	case strings.HasPrefix(s.src[s.pos:], `"""`):
		ok = s.text(`"""`, true)
	case strings.HasPrefix(s.src[s.pos:], `'''`):
		ok = s.text(`'''`, false)
	case s.peek() == '"':
		ok = s.text(`"`, true)
	case s.peek() == '\'':
		ok = s.text(`'`, false)
	case s.take("["):
		n.shape = array
		ok = s.list("]", func() bool {
			item, ok := s.value(depth + 1)
			if ok {
				n.items = append(n.items, item)
			}
			return ok
		})
	case s.take("{"):
		n.shape = table
		ok = s.list("}", func() bool { return s.pair(n, depth+1) })
	default:
		end := strings.IndexAny(s.src[s.pos:], ",]}#\r\n")
		if end < 0 {
			end = len(s.src) - s.pos
		}
		end = len(strings.TrimRight(s.src[s.pos:s.pos+end], " \t"))
		ok = end > 0
		s.pos += end
	}
	n.raw = s.src[start:min(s.pos, len(s.src))]
	return n, ok
}

// list reads items separated by commas up to the closing bracket.
func (s *scanner) list(closing string, item func() bool) bool {
	for {
		s.blank(true)
		if s.take(closing) {
			return true
		}
		if s.pos >= len(s.src) || !item() {
			return false
		}
		s.blank(true)
		s.take(",")
	}
}

// text moves over a string that opens and closes with the given quotes.
func (s *scanner) text(quote string, escapes bool) bool {
	at := s.pos + len(quote)
	for at < len(s.src) {
		switch {
		case escapes && s.src[at] == '\\':
			at += 2
		case strings.HasPrefix(s.src[at:], quote):
			at += len(quote)
			for i := 0; len(quote) == 3 && i < 2 && at < len(s.src) && s.src[at] == quote[0]; i++ {
				at++ // up to two quotes may stand directly before the closing ones
			}
			s.advance(at - s.pos)
			return true
		case s.src[at] == '\n' && len(quote) == 1:
			return false
		default:
			at++
		}
	}
	return false
}
