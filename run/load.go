package run

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/formats/measured"
	"collsim/formats/splits"
	"collsim/formats/topofile"
	"collsim/machine"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/unit"
)

// Version is the version of the program and of this package.
const Version = "0.1.0"

// LoadOptions holds what Load takes besides the file.
type LoadOptions struct {
	// With are files whose keys replace those of the scenario, before Set does.
	With []scenarios.With
	Set  []string // "path=value", each replacing a key of the file, as "topology.ranks=16"
	Only []string // points to keep, as "algorithm=ring,bytes=1 MiB"
	// Free is the memory that there is for a simulation.
	Free Memory
	// Executors are names that hardware.executor may have besides those that are documented.
	Executors []string
	// Limit bounds the bytes of a file, unpacked; 0 takes input.limit of the scenario.
	Limit unit.Bytes
	// Read reads the scenario, unless its text is given, and the schedules that it names, of no more
	// bytes than a limit; nil reads regular files.
	Read func(name string, limit unit.Bytes) ([]byte, error)
	// Open opens a schedule that it names and that is read only once, if it is not nil, or Read is
	// nil too: its text, which may be long, is then never in memory as a whole.
	Open func(name string, limit unit.Bytes) (io.ReadCloser, error)
	// ReadArrays reads the data that it names; nil is data.ReadRanks.
	ReadArrays func(path string, w arrays.Want) ([]arrays.Array, error)
}

// Scenario is a scenario that is ready to run: its algorithms exist, its schedules are read.
type Scenario struct {
	*scenarios.Scenario

	Free  Memory             // that there is; what takes more is refused, or left out of several
	file  string             // as given to Load
	limit unit.Bytes         // of the files that it names
	files map[string]*source // of "file:mine.schedule", by the algorithm as printed
	// arrays are the data files that it names; they are read by Load alone.
	arrays *arrayFiles
	disk   *disk
	// machines are those of files that it names.
	machines []*machine.Machine
	// logs are the files of measured times, by the names that the scenario has for them
	logs   map[string]*measured.Data
	partOf int // points of the scenario that this is a part of; 0: it is whole
	// channels of algorithms to which nobody gives a number
	channels channels
	// networks of algorithms that are made for one
	networks networks
	kept     kept
}

// Load reads a scenario: its text, or if that is nil the embedded example ("example:ring") or the
// file of that name. "-" is what standard input is called. What is wrong with the content is a
// *scenarios.Errors, each error with its line.
func Load(file string, text []byte, o LoadOptions) (*Scenario, error) {
	if o.Read == nil {
		o.Read, o.Open = readFile, openFile
	}
	text, err := textOf(file, text, o)
	if err != nil {
		return nil, err
	}
	if o.ReadArrays == nil {
		o.ReadArrays = arrays.ReadRanks
	}
	d, err := scenarios.Read(file, text, scenarios.Options{With: o.With, Set: o.Set, Only: o.Only,
		Executors: o.Executors})
	if err != nil {
		return nil, err
	}
	if o.Limit == 0 {
		o.Limit = d.InputLimit()
	}
	s := newScenario(&scenarios.Scenario{File: file}, file, o)
	if s.Scenario, err = s.points(d); err != nil {
		return nil, err
	}
	return s, s.judge()
}

// newScenario has read no file yet.
func newScenario(of *scenarios.Scenario, file string, o LoadOptions) *Scenario {
	return &Scenario{Scenario: of, Free: o.Free, file: file, files: map[string]*source{},
		logs:  map[string]*measured.Data{},
		limit: o.Limit,
		arrays: &arrayFiles{read: o.ReadArrays, resolve: of.Resolve, limit: o.Limit,
			beside: beside(file)},
		disk: &disk{of.Resolve, o.Read, o.Open, o.Limit, map[string]content{}}}
}

// names lists the algorithms of each kind. It is read-only.
var names = sync.OnceValue(func() scenarios.Facts {
	facts := scenarios.Facts{Algorithms: map[collective.Kind][]string{},
		Libraries: map[collective.Kind][]string{}}
	ours := len(algos.Table()) + len(algos.Further())
	for _, kind := range collective.Kinds() {
		facts.Algorithms[kind] = namesOf(algorithms()[:ours], kind)
		facts.Libraries[kind] = namesOf(algorithms()[ours:], kind)
	}
	return facts
})

// points puts a document together: what it asks is found out, until it asks no more.
func (s *Scenario) points(d *scenarios.Document) (*scenarios.Scenario, error) {
	facts := names()
	for {
		points, open, err := d.Points(facts)
		if err != nil || len(open) == 0 {
			return points, err
		}
		for _, q := range open {
			facts.Answers = append(facts.Answers, s.answer(q))
		}
	}
}

// answer finds out what a document asks.
func (s *Scenario) answer(q scenarios.Question) scenarios.Answer {
	a, p := scenarios.Answer{Question: q}, q.Point
	switch q.Topic {
	case scenarios.WhetherAlgorithm:
		a.Err = s.known(p)
	case scenarios.WhichSizes:
		a.Spec, a.Err = s.shape(p.Spec, p.Algorithm, p.Whole)
	case scenarios.WhichShapes:
		a.Shapes, a.Err = s.arrays.inputShapes(p)
	case scenarios.WhichTensor:
		var shape collective.Shape
		shape, a.Type, a.Err = s.arrays.tensorShape(&q.Source.Tensor, p.Topology.Ranks)
		a.Shapes = []collective.Shape{shape}
	case scenarios.WhichSplits:
		a.Splits, a.Err = s.splits(p.Data.Input)
	case scenarios.WhichMachine:
		a.Machine, a.Err = s.machineIn(p.Data.Input, p.Device.Name)
	case scenarios.WhichGraph:
		a.Graph, a.Err = s.graphIn(p.Data.Input)
	case scenarios.WhichProgram:
		a.Program, a.Err = s.filed(q.Source, p.Topology.Ranks)
	}
	return a
}

// splits reads the sizes of blocks from a file.
func (s *Scenario) splits(name string) ([][]int64, error) {
	text, err := scenarioFile(s.file, name, s.Resolve(name), s.disk)
	if err != nil {
		return nil, err
	}
	return splits.Read(text)
}

// machineIn reads the machine that a file describes; device is what the scenario names, if it does.
func (s *Scenario) machineIn(file, device string) (*machine.Machine, error) {
	text, err := scenarioFile(s.file, file, s.Resolve(file), s.disk)
	if err != nil {
		return nil, err
	}
	m, err := topofile.Read(filepath.Base(file), text, device)
	if err == nil {
		s.machines = append(s.machines, m)
	}
	return m, err
}

// New makes a scenario of points that a program has made (scenarios.NewPoint), and reads the files
// that these name. name is what the report calls it.
func New(name string, points ...*scenarios.Point) (*Scenario, error) {
	of, err := scenarios.Of(name, points...)
	if err != nil {
		return nil, err
	}
	s := newScenario(of, name, LoadOptions{Read: readFile, Open: openFile,
		ReadArrays: arrays.ReadRanks})
	for _, p := range points {
		if err := s.known(p); err != nil {
			return nil, s.located(p.Refuse("collective.algorithm", reason(err), ""))
		}
	}
	return s, s.judge()
}

// known returns an error if the algorithm of a point cannot be read, has bad parameters, or does
// not do the collective. Of the collective only its kind matters.
func (s *Scenario) known(p *scenarios.Point) error {
	switch a := p.Algorithm; {
	case a.Name == fastestName:
		return nil
	case a.FromFile():
		src, err := s.load(a)
		if err != nil {
			return err
		}
		return src.checkKind(p.Spec.Kind)
	default:
		return checkParams(p.Spec.Kind, a)
	}
}

// textOf returns the text of a scenario: the given text, that of an example, or the file's.
func textOf(file string, text []byte, o LoadOptions) ([]byte, error) {
	if text != nil {
		return text, nil
	}
	if name, ok := strings.CutPrefix(file, "example:"); ok {
		return scenarios.Example(name)
	}
	return o.Read(file, o.Limit)
}

// namesOf lists the algorithms of a kind in a table, in its order.
func namesOf(table []algos.Algorithm, kind collective.Kind) []string {
	var names []string
	for _, a := range table {
		if a.Does(kind) {
			names = append(names, a.Name)
		}
	}
	return names
}

// checkParams judges the parameters of an algorithm before its collective is known, by building it
// for a single rank.
func checkParams(kind collective.Kind, a scenarios.Algorithm) error {
	found, err := find(kind, a.Name)
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

// options converts an algorithm's modifiers to those of package algos.
func options(a scenarios.Algorithm) algos.Options {
	o := algos.Options{Channels: a.Channels, Slices: a.Slices}
	for _, p := range a.Params {
		o.Params = append(o.Params, algos.Param{Name: p.Name, Value: p.Value})
	}
	return o
}

// tuners reads the files of NCCL's tuner plugin that points name.
func (s *Scenario) tuners() error {
	for _, p := range AllPoints(s) {
		if p.TunerFile == "" {
			continue
		}
		text, err := scenarioFile(s.file, p.TunerFile, s.Resolve(p.TunerFile), s.disk)
		if err == nil {
			p.Tuner = string(text) + "\n"
			_, err = nccl.ParseTuner(p.Tuner)
		}
		if err != nil {
			return s.located(p.Refuse("nccl.tuner", err.Error(), ""))
		}
	}
	return nil
}

// judge refuses what no later stage could do, before anything is run.
func (s *Scenario) judge() error {
	if err := s.tuners(); err != nil {
		return err
	}
	if err := s.readLogs(); err != nil {
		return err
	}
	var found []*scenarios.Error
	seen := map[scenarios.Error]bool{}
	for _, p := range s.Points {
		r := s.refusal(p)
		if r == nil {
			continue
		}
		if e := s.Locate(r); !seen[*e] {
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

// located adds the line in the scenario to an error that refuses a point, and returns other
// errors as they are.
func (s *Scenario) located(err error) error {
	var r *scenarios.Refusal
	if errors.As(err, &r) {
		return s.Locate(r)
	}
	return err
}

// refusal returns why a point cannot be run, or nil.
func (s *Scenario) refusal(p *scenarios.Point) *scenarios.Refusal {
	if p.Algorithm.FromFile() {
		_, err := s.make(p, p.Algorithm)
		var cannot *illegal
		if err != nil && !(errors.As(err, &cannot) && s.mayLeaveOut(p)) {
			return p.Refuse("collective.algorithm", reason(err), "")
		}
	}
	if r := refusedByNCCL(p); r != nil {
		return r
	}
	if e := s.judgeData(p, 1); e != nil {
		return e
	}
	if e := s.judgeInputs(p); e != nil {
		return e
	}
	if e := s.judgeGradients(p); e != nil {
		return e
	}
	if !p.Check.Numbers || p.Spec.Kind == collective.Custom {
		return nil
	}
	if err := reference.Computable(p.Spec); err != nil {
		return p.Refuse("collective.op", err.Error(), "")
	}
	return nil
}

// whole returns the number of points of the scenario, or of that which it is a part of.
func (s *Scenario) whole() int { return max(s.partOf, len(s.Points)) }

// Of returns the scenario with some of its points alone. Their results are as in the whole. Unlike
// there, all of them may be skipped.
func (s *Scenario) Of(points []*scenarios.Point) *Scenario {
	view := *s.Scenario
	view.Points, view.Programs = points, nil
	return &Scenario{Scenario: &view, partOf: s.whole(), Free: s.Free,
		file: s.file, limit: s.limit, files: s.files,
		arrays: s.arrays, disk: s.disk, machines: s.machines, logs: s.logs}
}
