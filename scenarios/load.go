package scenarios

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"collsim/unit"
)

// Options has what Read takes besides the file.
type Options struct {
	// Executors are names that hardware.executor may have besides those that are documented.
	Executors []string
	// With are files whose keys replace those of the scenario, the later the earlier; Set wins.
	With []With
	// Set are "path=value", each replacing a key of the file; the value is TOML, or else text.
	Set []string
	// Only select points: "kind=all_reduce,algorithm=ring,bytes=1 MiB". Terms of one key are
	// alternatives; those of different keys must all hold.
	Only []string
}

// Scenario is a scenario file, read and expanded.
type Scenario struct {
	File        string // as given to Read; empty of points that a program has made
	Name        string
	Description string
	Seed        int64      // where it is not swept
	InputLimit  unit.Bytes // of a file that it names, unpacked
	Set         []string   // what has replaced keys of the file, as "path=value": of With, then of Set
	With        []string   // files whose keys stand in place of its own, as given to Read
	Only        []string   // what has chosen its points from all, if anything
	Points      []*Point   // in the order in which they are to be run and shown
	Programs    []*ProgramPoint
	Output      Output
	Tolerance   Tolerance
	Known       []Known  // reasons why results miss
	Notes       []string // what was done to the input, as rounding down: one line each

	views map[string]func() *view // how points of a file see it, by ID
}

// Output names the files to write; empty for none. Timeline, Trace and Curves may have a name for
// each point: see Point.FileName. A relative name is relative to the scenario: see
// Scenario.Resolve.
type Output struct{ CSV, JSON, Timeline, Trace, Curves, Links string }

// topKeys returns the keys before the first table.
func topKeys() []Key {
	return []Key{
		{Path: "schema", kind: aWhole, min: 1, max: 1, Default: "1", Example: "1",
			Doc: "Version of this format.", by: (*Document).read},
		{Path: "name", kind: aText, Default: "the file's name", Example: `"ring on 8 ranks"`,
			Doc: "A title for tables and pictures.",
			to:  set(func(s *Scenario, text string) { s.Name = text })},
		{Path: "description", kind: aText, Example: `"why this was run"`,
			Doc: "Anything worth keeping with the results.",
			to:  set(func(s *Scenario, text string) { s.Description = text })},
		{Path: "seed", kind: aWhole, min: 0, max: 1<<63 - 1, Default: "0", Example: "1", Sweep: true,
			Doc: "Seed of all random data; equal seeds give equal bytes.", by: (*view).machine},
	}
}

// outputKeys returns the keys of files: how they are read, and which are written.
func outputKeys() []Key {
	return []Key{
		{Path: inputLimit, kind: aSize, min: 1, max: maxBytes, Default: `"1 GiB"`, Example: `"4 GiB"`,
			Doc: "Bound on what a file may have, unpacked, each by itself; whatever has more is refused. " +
				"`--input-limit` replaces it, and bounds the scenario and what flags name as well.",
			to: set(func(s *Scenario, n unit.Bytes) { s.InputLimit = n })},
		{Path: "output.csv", kind: aFile, Example: `"results.csv"`, Doc: "All results as CSV.",
			to: set(func(o *Output, name string) { o.CSV = name })},
		{Path: "output.json", kind: aFile, Example: `"results.json"`, Doc: "All results as JSON.",
			to: set(func(o *Output, name string) { o.JSON = name })},
		{Path: "output.timeline", kind: aFile, Example: `"{algorithm}-{bytes}.svg"`,
			Doc: "A picture of who does what when, one for each result: SVG, PNG or PDF.",
			to:  set(func(o *Output, name string) { o.Timeline = name })},
		{Path: "output.trace", kind: aFile, Example: `"{algorithm}-{bytes}.pftrace"`,
			Doc: "The same for Perfetto: .pftrace, or .json for other viewers.",
			to:  set(func(o *Output, name string) { o.Trace = name })},
		{Path: "output.curves", kind: aFile, Example: `"{kind}.svg"`,
			Doc: "A picture of busbw against size, a curve for each algorithm: SVG, PNG or PDF.",
			to:  set(func(o *Output, name string) { o.Curves = name })},
		{Path: "output.links", kind: aFile, Example: `"links.csv"`,
			Doc: "What every link carried and for how long it was busy, for each result, as CSV.",
			to:  set(func(o *Output, name string) { o.Links = name })},
	}
}

// Read reads the text of a scenario. Errors name it file ("-" for standard input, "example:ring").
// Read refuses what is not TOML; Points reports everything else that is wrong, at once.
func Read(file string, text []byte, o Options) (*Document, error) {
	d := &Document{given: file, file: file, options: o, schema: newSchema(o.Executors...),
		fixed: map[string]bool{}}
	if file == "-" {
		d.file = "standard input"
	}
	if !d.parse(text) {
		return nil, d.errs.err(d.file)
	}
	for _, one := range o.With {
		d.with(one)
	}
	for _, one := range o.Set {
		d.set(one)
	}
	d.read()
	d.readVariants()
	return d, nil
}

// Points turns a document into points. If it needs facts that it has not, it returns questions and
// no scenario; the caller adds their answers to the facts and calls again. Once no question is
// open, all errors that can be found are returned together, as *Errors.
func (d *Document) Points(known Facts) (*Scenario, []Question, error) {
	r := newRun(d, known)
	s := r.scenario()
	if len(r.open) > 0 {
		return nil, r.open, nil
	}
	errs := &r.d.errs
	if len(errs.list) == 0 {
		r.unused()
	}
	if len(errs.list) == 0 {
		r.choose(s)
	}
	if err := errs.err(d.file); err != nil {
		return nil, nil, err
	}
	s.Notes = append(r.disabled(), notes(s.Points)...)
	s.Notes = append(s.Notes, r.idleNotes(s.Points)...)
	var ofPrograms []*Point
	for _, p := range s.Programs {
		ofPrograms = append(ofPrograms, p.Point)
	}
	s.Notes = append(s.Notes, r.idleNotes(ofPrograms)...)
	s.views = map[string]func() *view{}
	for _, p := range s.Points {
		s.views[p.ID] = r.views[p]
	}
	for _, p := range s.Programs {
		s.views[p.ID] = r.views[p.Point]
		for _, note := range p.Notes {
			if !slices.Contains(s.Notes, note) {
				s.Notes = append(s.Notes, note)
			}
		}
	}
	return s, nil, nil
}

// inputLimit is the key that must be known before the files of a scenario are read.
const inputLimit = "input.limit"

// InputLimit returns the most bytes, unpacked, that a file named by the scenario may have.
func (d *Document) InputLimit() unit.Bytes {
	var s Scenario
	newRun(d, Facts{}).view().fill("input", &s)
	return s.InputLimit
}

// scenario puts everything together.
func (r *run) scenario() *Scenario {
	v, file := r.view(), r.d.given
	s := &Scenario{File: file, Set: slices.Concat(r.d.replaced, r.d.options.Set)}
	for _, f := range r.d.options.With {
		s.With = append(s.With, f.Name)
	}
	s.Seed, _ = fetchOr(v, "seed", int64(0))
	s.Name = title(file)
	v.fill("", s)
	v.fill("input", s)
	v.fill("output", &s.Output)
	r.patterns(v)
	r.all = r.runs()
	for _, one := range r.all {
		programs, points := one.programs(), one.expand()
		s.Programs, s.Points = append(s.Programs, programs...), append(s.Points, points...)
		for _, p := range programs {
			points = append(slices.Clip(points), p.Point)
		}
		r.close(one, points)
	}
	s.Tolerance, s.Known = v.tolerance(s.Points)
	return s
}

// title returns the name of a scenario that gives none: its file's.
func title(file string) string {
	if file == "-" {
		return "scenario"
	}
	base := filepath.Base(strings.TrimPrefix(file, examplePrefix))
	return strings.TrimSuffix(base, ".toml")
}

// Resolve makes a file name of the scenario ("file:mine.schedule", outputs) relative to the
// scenario's directory. Names in standard input and in examples are relative to the working
// directory.
func (s *Scenario) Resolve(name string) string {
	if filepath.IsAbs(name) || s.File == "-" || strings.HasPrefix(s.File, examplePrefix) {
		return name
	}
	return filepath.Join(filepath.Dir(s.File), name)
}

// unused refuses keys that no point has a use for: what has no effect should not look as if it
// had one. What a variant sets must have one in that variant.
func (r *run) unused() {
	used := map[string]bool{}
	for _, one := range r.all {
		maps.Copy(used, one.used)
	}
	for _, one := range r.all {
		for _, l := range one.d.order {
			of := used
			if one.d.own[l.path] {
				of = one.used
			}
			if why := one.idle(l.key, l.path, of); why != "" {
				r.d.errs.add(one.d.at(l.node, l.path, problem{why, ""}))
			}
		}
		one.unusedSweeps(used)
		for _, e := range one.d.errs.list {
			r.d.errs.add(e)
		}
	}
}

// unusedSweeps refuses swept keys that no point has a use for.
func (r *run) unusedSweeps(used map[string]bool) {
	for _, s := range r.d.sweeps {
		for _, at := range s.places {
			if why := r.idle(s.key, at, used); why != "" {
				e := r.d.at(s.node, "", problem{why, ""})
				e.Key = `sweep."` + s.path + `"`
				r.d.errs.add(e)
				break
			}
		}
	}
}

// idle says why a key has no effect at a place. It is empty if the key has one: if it is among the
// used ones, or if every reader of a scenario uses it.
func (r *run) idle(k *Key, at string, used map[string]bool) string {
	if used[at] || r.common[at] {
		return ""
	}
	if strings.HasPrefix(at, "collective[") {
		if p, _ := parsePath(at); !r.enabled(p[0].index) {
			return ""
		}
	}
	if k.idle != "" {
		return noEffect + ": " + k.idle
	}
	switch k.Path {
	case "device.queue":
		return "has no effect: nothing is posted without offload = true"
	case "device.receives_ahead":
		return "has no effect: no message is asked for without eager_limit"
	case "topology.bandwidth", "topology.latency":
		if r.view().clustered() {
			return "has no effect: [topology.node] and [topology.network] have their own"
		}
		return "has no effect: every link has its own"
	case "topology.multimem":
		if r.view().clustered() {
			return "has no effect: [topology.node] and [topology.network] have their own"
		}
		return "has no effect: links by hand have no switches of a preset"
	case "topology.order":
		return "has no effect: links by hand name the ranks"
	case "topology.absent":
		return "has no effect: it is of the GPUs and NICs of nodes; topology.nodes makes them"
	}
	return idleParam(k)
}
