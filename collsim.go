// Package collsim is the front door: a scenario goes in, results come out.
//
//	scenario.toml ─► Load ─► Scenario.Run ─► Report ─► Table, JSON, CSV
//
// Every point of a scenario becomes a schedule. The schedule is proven (schedule.Verify), computed
// on real numbers (reference.Check) and timed (sim.Run), and what they found is one Result. The
// three share the schedule and nothing else, so that their agreement means something.
//
// Schedules that other tools have written come in by the same door: ReadSchedule knows their
// formats, VerifyFile proves them with places in their files, a scenario runs them
// ("file:my.xml"), and Scenario.Export writes ours in theirs.
//
// The package reads files through the function that it is given and writes none; it knows nothing
// of flags, terminals and pictures. Equal input gives equal bytes, however many threads there are.
package collsim

import (
	"errors"
	"os"
	"strings"

	"collsim/algos"
	"collsim/collective"
	"collsim/data"
	"collsim/dtype"
	"collsim/reference"
	"collsim/scenarios"
)

// Version is the version of the program and of this package.
const Version = "0.1.0"

// LoadOptions are what Load takes besides the file.
type LoadOptions struct {
	// With are files whose keys replace those of the scenario, before Set does.
	With []scenarios.With
	Set  []string // "path=value", each replacing a key of the file, as "topology.ranks=16"
	Only []string // points to keep, as "algorithm=ring,bytes=1 MiB"
	// Read reads the scenario, unless its text is given, and the schedules that it names; nil is
	// os.ReadFile.
	Read func(name string) ([]byte, error)
	// ReadArrays reads the data that it names; nil is data.ReadRanks.
	ReadArrays func(path string, w data.Want) ([]data.Array, error)
}

// Scenario is a scenario that is ready to run: its algorithms exist, its schedules are read.
type Scenario struct {
	*scenarios.Scenario

	file  string             // as given to Load
	files map[string]*source // of "file:mine.schedule", by the algorithm as printed
	// arrays are the data files that it names; they are read by Load alone.
	arrays *arrays
}

// Load reads a scenario: its text, or if that is nil the embedded example ("example:ring") or the
// file of that name. "-" is what standard input is called. What is wrong with the content is a
// *scenarios.Errors, each error with its line.
func Load(file string, text []byte, o LoadOptions) (*Scenario, error) {
	if o.Read == nil {
		o.Read = os.ReadFile
	}
	text, err := textOf(file, text, o)
	if err != nil {
		return nil, err
	}
	if o.ReadArrays == nil {
		o.ReadArrays = data.ReadRanks
	}
	where := &scenarios.Scenario{File: file}
	s := &Scenario{file: file, files: map[string]*source{},
		arrays: &arrays{read: o.ReadArrays, resolve: where.Resolve}}
	s.Scenario, err = scenarios.Load(file, text, scenarios.Options{
		Algorithms: algorithmNames,
		With:       o.With,
		Set:        o.Set,
		Only:       o.Only,
		Check: func(kind collective.Kind, a scenarios.Algorithm) error {
			if !a.FromFile() {
				return checkParams(kind, a)
			}
			src, err := s.load(a, where.Resolve, o)
			if err != nil {
				return err
			}
			return src.checkKind(kind)
		},
		Shape:  s.shape,
		Inputs: s.arrays.inputShapes,
	})
	if err != nil {
		return nil, err
	}
	return s, s.judge()
}

// textOf is the text of a scenario.
func textOf(file string, text []byte, o LoadOptions) ([]byte, error) {
	if text != nil {
		return text, nil
	}
	if name, ok := strings.CutPrefix(file, "example:"); ok {
		return scenarios.Example(name)
	}
	return o.Read(file)
}

// algorithmNames lists a kind's algorithms.
func algorithmNames(kind collective.Kind) []string {
	var names []string
	for _, a := range algos.ForKind(kind) {
		names = append(names, a.Name)
	}
	return names
}

// checkParams judges the parameters of an algorithm before its collective is known, by building it
// for a single rank.
func checkParams(kind collective.Kind, a scenarios.Algorithm) error {
	found, err := algos.Find(kind, a.Name)
	if err != nil {
		return err
	}
	one := collective.Spec{Kind: kind, Type: dtype.Uint8, Ranks: 1}
	if kind.Reduces() {
		one.Op = collective.Sum
	}
	if kind.Splits() {
		one.Splits = [][]int64{{0}}
	}
	_, err = found.Build(one, options(a))
	return err
}

// options are an algorithm's modifiers as package algos takes them.
func options(a scenarios.Algorithm) algos.Options {
	o := algos.Options{Channels: a.Channels, Slices: a.Slices}
	for _, p := range a.Params {
		o.Params = append(o.Params, algos.Param{Name: p.Name, Value: p.Value})
	}
	return o
}

// judge refuses what no later stage could do, before anything is run.
func (s *Scenario) judge() error {
	var found []*scenarios.Error
	seen := map[scenarios.Error]bool{}
	for _, p := range s.Points {
		if e := s.refusal(p); e != nil && !seen[*e] {
			seen[*e] = true
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil
	}
	n := min(len(found), scenarios.MaxErrors)
	return &scenarios.Errors{List: found[:n:n], More: len(found) - n}
}

// refusal is what is wrong with a point, nil if nothing is.
func (s *Scenario) refusal(p *scenarios.Point) *scenarios.Error {
	if p.Algorithm.FromFile() {
		_, err := s.make(p, p.Algorithm)
		var cannot *illegal
		if err != nil && !(errors.As(err, &cannot) && s.mayLeaveOut(p)) {
			return p.Error("collective.algorithm", unprefixed(err), "")
		}
	}
	if e := s.judgeData(p); e != nil {
		return e
	}
	if !p.Check.Numbers || p.Spec.Kind == collective.Custom {
		return nil
	}
	if err := reference.Computable(p.Spec); err != nil {
		return p.Error("collective.op", unprefixed(err), "")
	}
	return nil
}
