package scenarios

import (
	"slices"
	"strings"

	"collsim/internal/nearest"
)

// FileName replaces {kind}, {algorithm}, {bytes}, {count}, {dtype}, {op}, {ranks}, {name}, {id} and
// {path of a swept key} in the name of an output file by what the point has. Characters that do
// not belong in a file's name become "-", blanks go.
func (p *Point) FileName(pattern string) string {
	return placeholder().ReplaceAllStringFunc(pattern, func(s string) string {
		values, ok := p.facts(s[1 : len(s)-1])
		if !ok {
			return s
		}
		return strings.Map(fileRune, listRunes.Replace(values[0]))
	})
}

// listRunes makes [[0,1],[2,3]] into 0-1_2-3, with fileRune.
var listRunes = strings.NewReplacer("],[", "_", "[", "", "]", "")

func fileRune(r rune) rune {
	switch {
	case r == ' ':
		return -1
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
		strings.ContainsRune("._=+-", r):
		return r
	}
	return '-'
}

// patterns checks the placeholders of the names under [output].
func (r *run) patterns(v *view) {
	known := r.onlyKeys()
	for _, k := range outputKeys() {
		at, name := k.Path, k.name()
		pattern, given, ok := fetch[string](v, at)
		if !given || !ok {
			continue
		}
		for _, m := range placeholder().FindAllStringSubmatch(pattern, -1) {
			switch {
			case name == "csv" || name == "json" || name == "links":
				v.fail(at, problem{"all results go to one file; a name without { } is expected", ""})
			case !slices.Contains(known, m[1]):
				hint := "known: " + strings.Join(known, ", ")
				if near := nearest.To(m[1], known, 1); len(near) > 0 {
					hint = "did you mean " + quoted(near[0]) + "?"
				}
				v.fail(at, problem{quoted(m[0]) + " stands for nothing", hint})
			}
		}
	}
}
