package scenarios

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Algorithm is an algorithm as a scenario names it: "ring", "chain(segment=512KiB)",
// "ring(channels=8)" or "file:mine.schedule". Whether it exists is the caller's to say. "fastest",
// the default, leaves the choice to whoever runs the point; "all" becomes a point for every
// algorithm of the kind (it stays "all" where Options.Algorithms is nil).
type Algorithm struct {
	Name     string  // "ring"; "file" where File holds
	File     string  // of "file:mine.schedule", as written
	Params   []Param // in the order given, without channels and slices
	Channels int     // copies side by side, at least 1; channels of the scenario count too
	Slices   int     // parts of a chunk, at least 1
	Every    bool    // "all" chose it: if it cannot be built, it is to be left out with the reason
}

// Param is one parameter of an algorithm: segment=512KiB. The value has no spaces; what it means
// is the algorithm's business.
type Param struct{ Name, Value string }

// String is the one spelling for tables, JSON and legends; channels and slices of 1 are left out.
func (a Algorithm) String() string {
	if a.Name == "file" {
		return "file:" + a.File
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
		return a.Name
	}
	return a.Name + "(" + strings.Join(params, ",") + ")"
}

var (
	algorithmName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	paramName     = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	paramValue    = regexp.MustCompile(`^[A-Za-z0-9_.+:/-]+$`)
)

// parseAlgorithm reads the syntax. Channels and Slices are 0 where the name does not give them.
func parseAlgorithm(s string) (any, *problem) {
	if file, ok := strings.CutPrefix(s, "file:"); ok {
		if file = strings.TrimSpace(file); file == "" || strings.ContainsAny(file, "\n\r\x00") {
			return nil, &problem{`a file's name is expected, as "file:mine.schedule"`, ""}
		}
		return Algorithm{Name: "file", File: file}, nil
	}
	s = strings.Join(strings.Fields(s), "")
	base, list, called := strings.Cut(s, "(")
	a := Algorithm{Name: strings.ReplaceAll(strings.ToLower(base), "_", "-")}
	if a.Name == "auto" {
		return nil, &problem{`"auto" can mean what NCCL would pick, or the fastest one`,
			`write "fastest", or the name of an algorithm: collsim list algorithms`}
	}
	list, closed := strings.CutSuffix(list, ")")
	if !algorithmName.MatchString(a.Name) || called != closed {
		return nil, &problem{"an algorithm's name is expected, with parameters in brackets if any",
			`for example "ring" or "chain(segment=512KiB)"`}
	}
	if !called {
		return a, nil
	}
	seen := map[string]bool{}
	for _, text := range strings.Split(list, ",") {
		name, value, ok := strings.Cut(text, "=")
		name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
		if !ok || !paramName.MatchString(name) || !paramValue.MatchString(value) {
			return nil, &problem{quoted(text) + " is no parameter; name=value is expected",
				`for example "chain(segment=512KiB)"`}
		}
		if seen[name] {
			return nil, &problem{"the parameter " + name + " is given twice", ""}
		}
		seen[name] = true
		if p := a.set(name, value); p != nil {
			return nil, p
		}
	}
	return a, nil
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
	if err != nil || n < 1 || n > maxCopies {
		return &problem{text: fmt.Sprintf("%s=%s is out of range; 1 to %d is expected",
			name, shown(value), maxCopies)}
	}
	*into = n
	return nil
}
