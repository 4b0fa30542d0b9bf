package topom

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/system"
)

// cell is the connection of two devices: NVLinks, or a PCIe path.
type cell struct {
	isSelf bool
	links  int             // NVLinks
	path   system.PathType // PIX, PXB, PHB or SYS, if links is 0
	text   string
}

// matrix holds the output of nvidia-smi topo -m.
type matrix struct {
	line     int // of its header
	names    []string
	cells    [][]cell
	affinity []string // text after the cells of a row
	odd      []string // the first invalid cell of a row
	legend   map[string]string
}

// escapes matches escape sequences of a terminal, complete or without their lost escape character.
func escapes() *regexp.Regexp {
	return regexp.MustCompile("(?:\x1b|\\^\\[|\\\\e|\\\\033|\\\\x1b|\\\\u001b|\uFFFD|\u241B)?" +
		"\\[[0-9;]*[mK]")
}

// device matches the names of GPUs and NICs in a header and before a row: GPU0, NIC0, mlx5_0,
// ibp12s0. Other columns have no digit: CPU Affinity, NUMA Affinity, GPU NUMA ID.
func device() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z_.:-]*\d[\w.:-]*$`) }

// maxDevices bounds a matrix.
const maxDevices = system.MaxGPUs + system.MaxNICs

// words splits a line: by the bars of a table in Markdown, else by blanks.
func words(line string) []string {
	if strings.Count(line, "|") > 2 && strings.HasPrefix(strings.TrimLeft(line, "> \t"), "|") {
		cells := strings.Split(strings.Trim(strings.TrimLeft(strings.TrimSpace(line), "> "), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "*`")
		}
		return cells
	}
	return strings.FieldsFunc(line, func(r rune) bool {
		return r == ' ' || r == '\t' || r == '|' || r == '"' || r == '\u00a0' || r == '\u3000'
	})
}

// header returns the devices of a header; none if the line is not a header. A header has GPUs first
// and no cell.
func header(all []string, isDevice *regexp.Regexp) (names []string) {
	for _, w := range all {
		switch {
		case isCell(w), slices.Contains(abilities(), w):
			return nil
		case len(names) == 0 && !isGPU(w), len(names) > maxDevices: // a word before it
		case isDevice.MatchString(w):
			names = append(names, w)
		}
	}
	if len(names) > maxDevices {
		return nil
	}
	return names
}

// isGPU reports whether a device is a GPU.
func isGPU(name string) bool {
	digits, ok := strings.CutPrefix(name, "GPU")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// isCell reports whether a word is a cell.
func isCell(w string) bool {
	_, ok := parseCell(w)
	return ok
}

// parseCell parses a cell. SOC is the name of SYS up to 2017; PSB is a switch on a board of two
// GPUs.
func parseCell(w string) (c cell, ok bool) {
	c.text = strings.ToUpper(w)
	switch c.text {
	case "X":
		c.isSelf = true
	case "PIX", "PSB":
		c.path = system.PIX
	case "PXB":
		c.path = system.PXB
	case "PHB", "NODE":
		c.path = system.PHB
	case "SYS", "SOC":
		c.path = system.SYS
	default:
		n, isNV := strings.CutPrefix(c.text, "NV")
		links, err := strconv.Atoi(n)
		if !isNV || err != nil || links < 1 || links > 1024 {
			return c, false
		}
		c.links = links
	}
	return c, true
}

// scan finds the matrices of a text.
func scan(text string) (all []*matrix) {
	isDevice, clean := device(), escapes()
	var now *matrix
	rows := map[string]int{}
	legend := map[string]string{}
	nicLine := regexp.MustCompile(`^\W*(NIC\d+)\s*[:=]\s*(\S+)\s*$`)
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = clean.ReplaceAllString(strings.TrimRight(line, "\r\n"), "")
		if m := nicLine.FindStringSubmatch(line); m != nil && len(legend) < maxDevices {
			legend[m[1]] = m[2]
			continue
		}
		in := words(line)
		if names := header(in, isDevice); names != nil {
			if len(all) < maxMatrices {
				now = newMatrix(number, names, legend)
				all = append(all, now)
				clear(rows)
				for i, n := range names {
					rows[n] = i
				}
			}
			continue
		}
		if now != nil {
			now.row(in, rows)
		}
	}
	return all
}

// maxMatrices is the most matrices of a text that are parsed.
const maxMatrices = 64

// newMatrix makes a matrix from its header.
func newMatrix(line int, names []string, legend map[string]string) *matrix {
	return &matrix{line: line, names: names, cells: make([][]cell, len(names)),
		affinity: make([]string, len(names)), odd: make([]string, len(names)), legend: legend}
}

// row adds a line that has the name of a device, anywhere, and a cell for each device after it.
func (m *matrix) row(all []string, rows map[string]int) {
	for i, w := range all {
		at, ok := rows[w]
		if !ok || len(all)-i-1 < len(m.names) {
			continue
		}
		cells := make([]cell, 0, len(m.names))
		for _, w := range all[i+1 : i+1+len(m.names)] {
			c, ok := parseCell(w)
			if !ok {
				m.odd[at] = w
				break
			}
			cells = append(cells, c)
		}
		if len(cells) < len(m.names) {
			continue
		}
		rest := append(append([]string{}, all[:i]...), all[i+1+len(m.names):]...)
		if m.cells[at] == nil {
			m.cells[at], m.affinity[at] = cells, strings.Join(rest, " ")
		}
		return
	}
}
