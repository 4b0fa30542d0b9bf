package rocmtopo

import (
	"regexp"
	"strconv"
	"strings"
)

// kind selects the property of each pair of GPUs that a table has.
type kind int

const (
	unknown kind = iota
	weights      // 15 for an xGMI link, 40 and more over PCIe
	hops
	types // XGMI or PCIE
)

// table is one of the tables.
type table struct {
	kind  kind
	line  int
	names []string
	cells [][]string
}

// nameOf matches the name of a GPU: GPU0, or the bus id that amd-smi prints.
func nameOf() *regexp.Regexp {
	return regexp.MustCompile(`^(GPU\d+|[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F])$`)
}

// numaLine matches "GPU[0] : (Topology) Numa Node: 0", with or without its brackets.
func numaLine() *regexp.Regexp {
	return regexp.MustCompile(`(?i)GPU\s*\[?(\d+)\]?\s*:?\s*\(Topology\)\s*Numa Node:\s*(-?\d+)`)
}

// maxGPUs and maxTables bound a file.
const (
	maxGPUs   = 256
	maxTables = 32
)

// scan finds the complete tables of a text, and the NUMA domains of GPUs.
func scan(text string) (all []*table, numa map[int]string) {
	isName, isNUMA := nameOf(), numaLine()
	numa = map[int]string{}
	title := ""
	var now *table
	number := 0
	for line := range strings.Lines(text) {
		number++
		if m := isNUMA.FindStringSubmatch(line); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n < maxGPUs {
				numa[n] = m[2]
			}
			continue
		}
		words := strings.FieldsFunc(line, func(r rune) bool {
			return r == ' ' || r == '\t' || r == '|' || r == '\r' || r == '\n' || r == '\u00a0'
		})
		switch {
		case len(words) == 0:
			continue
		case isHeader(words, isName) && len(all) < maxTables:
			now = &table{kind: kindOf(title), line: number, names: words,
				cells: make([][]string, len(words))}
			all = append(all, now)
			title = ""
		case now != nil && isName.MatchString(words[0]):
			now.row(words)
		default:
			title = line
		}
	}
	return all, numa
}

// isHeader reports whether a line consists of distinct names.
func isHeader(words []string, isName *regexp.Regexp) bool {
	seen := map[string]bool{}
	for _, w := range words {
		if !isName.MatchString(w) || seen[w] || len(words) > maxGPUs {
			return false
		}
		seen[w] = true
	}
	return true
}

// kindOf returns the kind that the line above a table names.
func kindOf(title string) kind {
	title = strings.ToLower(title)
	switch {
	case strings.Contains(title, "weight"):
		return weights
	case strings.Contains(title, "hops"):
		return hops
	case strings.Contains(title, "link type"):
		return types
	}
	return unknown
}

// row adds a row that has a cell for each GPU.
func (t *table) row(words []string) {
	if len(words) != len(t.names)+1 {
		return
	}
	for i, n := range t.names {
		if n == words[0] && t.cells[i] == nil {
			t.cells[i] = words[1:]
			return
		}
	}
}

// isWhole reports whether a table has all rows. If no line names its kind, it infers it from the
// cells off the diagonal.
func (t *table) isWhole() bool {
	is := unknown
	for i, row := range t.cells {
		if row == nil {
			return false
		}
		for j, c := range row {
			if i != j {
				k := cellKind(c)
				if k == unknown || is != unknown && (is == types) != (k == types) {
					return false
				}
				if is == unknown || k == weights {
					is = k
				}
			}
		}
	}
	if t.kind == unknown {
		t.kind = is
	}
	return is == unknown && len(t.names) == 1 || is == types == (t.kind == types) && t.kind != unknown
}

// cellKind returns the kind of table that a cell fits. Paths have few hops, and weights are 13 or
// more.
func cellKind(c string) kind {
	switch strings.ToUpper(c) {
	case "XGMI", "PCIE":
		return types
	}
	n, err := strconv.Atoi(c)
	switch {
	case err != nil || n < 1 || n > 10_000:
		return unknown
	case n < 10:
		return hops
	}
	return weights
}
