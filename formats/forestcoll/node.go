package forestcoll

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// node is the name of a node as Python prints it: a tuple of numbers and words, or a number.
type node []atom

// atom is a word, or a number if the word is empty.
type atom struct {
	word   string
	number int
}

func (n node) compare(o node) int {
	return slices.CompareFunc(n, o, func(a, b atom) int {
		if c := cmp.Compare(a.word, b.word); c != 0 {
			return c
		}
		return cmp.Compare(a.number, b.number)
	})
}

// String returns the name as Python prints it: (0, 'GPU', 3).
func (n node) String() string {
	parts := make([]string, len(n))
	for i, a := range n {
		if parts[i] = strconv.Itoa(a.number); a.word != "" {
			parts[i] = "'" + a.word + "'"
		}
	}
	if len(n) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// parseNodes parses a list of nodes with commas between them.
func parseNodes(text string) (list []node, err error) {
	for {
		text = strings.TrimLeft(text, " ")
		inner := text
		if open := strings.HasPrefix(text, "("); open {
			end := strings.IndexByte(text, ')')
			if end < 0 {
				return nil, fmt.Errorf("an open parenthesis")
			}
			inner, text = text[1:end], text[end+1:]
		} else {
			end := strings.IndexByte(text, ',')
			if end < 0 {
				end = len(text)
			}
			inner, text = text[:end], text[end:]
		}
		n, err := parseNode(inner)
		if err != nil {
			return nil, err
		}
		if list = append(list, n); text == "" {
			return list, nil
		}
		if text[0] != ',' {
			return nil, fmt.Errorf("a comma is expected")
		}
		text = text[1:]
	}
}

func parseNode(text string) (n node, err error) {
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		var a atom
		if len(part) > 2 && part[0] == '\'' && part[len(part)-1] == '\'' {
			a.word = part[1 : len(part)-1]
		} else if a.number, err = strconv.Atoi(part); err != nil {
			return nil, err
		}
		n = append(n, a)
	}
	if len(n) > 8 || strings.ContainsAny(text, "()") {
		return nil, fmt.Errorf("a node of %d parts", len(n))
	}
	return n, nil
}
