package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Algorithm names an algorithm as a scenario does: "ring", "chain(segment=512KiB)",
// "ring(channels=8)", a library's "nccl:ring", "file:mine.schedule" or "file:my.xml(protocol=LL)".
// The caller judges whether it exists. "fastest", the default, leaves the choice to the run. "all"
// becomes a point for every algorithm of the kind; it stays "all" where Facts.Algorithms is nil.
type Algorithm struct {
	Name     string  // "ring"; "file" where File holds
	File     string  // of "file:mine.schedule", as written
	Params   []Param // in the order given, without channels and slices
	Channels int     // copies side by side, also by collective.channels; 0: as many as links need
	Slices   int     // parts of a chunk, at least 1
	Every    bool    // "all" chose it: if it cannot be built, it is to be left out with the reason
}

// Param is one parameter of an algorithm: segment=512KiB. The value has no spaces; what it means
// is the algorithm's business.
type Param struct{ Name, Value string }

// String returns the one spelling for tables, JSON and legends. Channels and slices of 1 are left
// out.
func (a Algorithm) String() string {
	name := a.Name
	if a.FromFile() {
		name = "file:" + a.File
	}
	var params []string
	for _, p := range a.Params {
		params = append(params, p.Name+"="+p.Value)
	}
	if a.Channels > 1 {
		params = append(params, "channels="+strconv.Itoa(a.Channels))
	}
	if a.Slices > 1 {
		params = append(params, "slices="+strconv.Itoa(a.Slices))
	}
	if len(params) == 0 {
		return name
	}
	return name + "(" + strings.Join(params, ",") + ")"
}

const (
	paramName  = `^[a-z][a-z0-9_]*$`
	paramValue = `^[A-Za-z0-9_.+:/-]+$`
	// fileParams are the parameters behind a file's name, which may itself have brackets.
	fileParams = `^(.*\S)\s*\(([^()]*=[^()]*)\)$`
)

// FromFile reports whether the schedule is read from File.
func (a Algorithm) FromFile() bool { return a.Name == "file" }

// parseFile reads a file's name and what stands in brackets behind it.
func parseFile(file string) (any, *problem) {
	a := Algorithm{Name: "file", File: strings.TrimSpace(file)}
	list := ""
	if m := regexp.MustCompile(fileParams).FindStringSubmatch(a.File); m != nil {
		a.File, list = m[1], m[2]
	}
	if a.File == "" || strings.ContainsAny(a.File, "\n\r\x00") {
		return nil, &problem{`a file's name is expected, as "file:mine.schedule"`, ""}
	}
	if p := fileName(a.File); p != nil {
		return nil, p
	}
	if list == "" {
		return a, nil
	}
	if p := a.setAll(strings.Join(strings.Fields(list), "")); p != nil {
		return nil, p
	}
	if a.Channels != 0 || a.Slices != 0 {
		return nil, &problem{"a schedule from a file has its own channels and slices; none are expected",
			""}
	}
	return a, nil
}

// parseAlgorithm reads the syntax. Channels and Slices are 0 where the name does not give them.
func parseAlgorithm(s string) (any, *problem) {
	if file, ok := strings.CutPrefix(s, "file:"); ok {
		return parseFile(file)
	}
	s = strings.Join(strings.Fields(s), "")
	base, list, called := strings.Cut(s, "(")
	a := Algorithm{Name: strings.ReplaceAll(strings.ToLower(base), "_", "-")}
	if a.Name == "auto" {
		return nil, &problem{`"auto" can mean what NCCL would pick, or the fastest one`,
			`write "nccl:auto", "fastest", or the name of an algorithm: collsim list algorithms`}
	}
	list, closed := strings.CutSuffix(list, ")")
	if !isAlgorithm(a.Name) || called != closed {
		return nil, &problem{"an algorithm's name is expected, with parameters in brackets if any",
			`for example "ring" or "chain(segment=512KiB)"`}
	}
	if !called {
		return a, nil
	}
	if p := a.setAll(list); p != nil {
		return nil, p
	}
	return a, nil
}

// isAlgorithm reports whether a name may be an algorithm's: "ring", "nccl:double-binary-tree".
func isAlgorithm(name string) bool {
	word := func(s string) bool {
		const rest = "abcdefghijklmnopqrstuvwxyz0123456789-"
		return s != "" && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, rest) == ""
	}
	library, own, ok := strings.Cut(name, ":")
	return word(library) && (!ok || word(own))
}

// setAll takes in parameters: name=value, one behind the other with commas between them.
func (a *Algorithm) setAll(list string) *problem {
	seen := map[string]bool{}
	names, values := regexp.MustCompile(paramName), regexp.MustCompile(paramValue)
	for _, text := range strings.Split(list, ",") {
		name, value, ok := strings.Cut(text, "=")
		name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
		if !ok || !names.MatchString(name) || !values.MatchString(value) {
			return &problem{quoted(text) + " is no parameter; name=value is expected",
				`for example "chain(segment=512KiB)"`}
		}
		if seen[name] {
			return &problem{"the parameter " + name + " is given twice", ""}
		}
		seen[name] = true
		if p := a.set(name, value); p != nil {
			return p
		}
	}
	return nil
}

// chosen reports whether the name stands for others.
func (a Algorithm) chosen() bool { return a.Name == allOf || a.Name == fastest }

// The names that stand for others.
const (
	allOf   = "all"
	fastest = "fastest"
)

// set takes in one parameter.
func (a *Algorithm) set(name, value string) *problem {
	into := &a.Channels
	switch name {
	case "channels":
	case "slices":
		into = &a.Slices
	default:
		if a.chosen() {
			return &problem{quoted(a.Name) + " takes channels and slices alone", "the parameter " +
				name + " belongs to one algorithm: name that"}
		}
		a.Params = append(a.Params, Param{name, value})
		return nil
	}
	n, err := strconv.Atoi(value)
	var wrong *strconv.NumError
	if errors.As(err, &wrong) && errors.Is(wrong.Err, strconv.ErrSyntax) {
		return &problem{text: fmt.Sprintf("%s=%s: a whole number from 1 to %d is expected", name,
			shown(value), maxCopies)}
	}
	if err != nil || n < 1 || n > maxCopies {
		return &problem{text: fmt.Sprintf("%s=%s is out of range; 1 to %d is expected",
			name, shown(value), maxCopies)}
	}
	*into = n
	return nil
}

// ParseAlgorithm reads an algorithm as a scenario names it, a file's schedule too. It judges the
// form alone.
func ParseAlgorithm(text string) (Algorithm, error) {
	v, p := parseAlgorithm(text)
	if p != nil {
		return Algorithm{}, fmt.Errorf("%s: %s", quoted(text), p.text)
	}
	a := v.(Algorithm)
	a.Slices = max(a.Slices, 1)
	return a, nil
}
