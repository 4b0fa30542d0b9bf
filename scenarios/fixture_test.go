package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// known stands in for package algos: names as the embedded examples and the tests use them.
func known(kind collective.Kind) []string {
	switch kind {
	case collective.AllReduce:
		return []string{"ring", "recursive-doubling", "binomial", "double-binary-tree", "one-shot",
			"two-shot"}
	case collective.AllGather:
		return []string{"ring", "recursive-doubling", "bruck", "direct"}
	case collective.ReduceScatter:
		return []string{"ring", "direct"}
	case collective.Broadcast:
		return []string{"binomial", "flat", "chain"}
	case collective.Reduce:
		return []string{"binomial", "flat"}
	case collective.Gather, collective.Scatter:
		return []string{"flat"}
	case collective.AllToAll:
		return []string{"pairwise", "bruck", "direct"}
	case collective.SendRecv:
		return []string{"direct"}
	case collective.AllToAllV:
		return []string{"direct", "pairwise"}
	}
	return nil
}

// judged accepts the parameters segment of chain and empty of direct; and files that can be read.
func judged(_ collective.Kind, a Algorithm) error {
	if a.Name == "file" {
		if _, err := ExampleFile(a.File); err == nil {
			return nil
		}
		_, err := fs.ReadFile(os.DirFS("testdata/files"), a.File)
		var wrong *fs.PathError
		if errors.As(err, &wrong) {
			return fmt.Errorf("cannot be read: %w", wrong.Err)
		}
		return err
	}
	for _, p := range a.Params {
		if of := a.Name + " " + p.Name; of != "chain segment" && of != "direct empty" {
			return errors.New("" + a.Name + " has no parameter " + p.Name)
		}
	}
	return nil
}

// shaped gives every rank of a custom collective an output of size, or of what the file has.
func shaped(spec collective.Spec, a Algorithm, size unit.Bytes) (collective.Spec, error) {
	if a.File != "mine.schedule" {
		return spec, errors.New("of no known shape")
	}
	elements := int64(8)
	if size > 0 {
		elements = int64(size) / int64(spec.Type.Width())
	}
	spec.Splits = [][]int64{make([]int64, spec.Ranks), make([]int64, spec.Ranks)}
	for r := range spec.Ranks {
		spec.Splits[1][r] = elements
	}
	return spec, nil
}

// world is what a test loads in: the options, and who answers; nil has nothing to say against a
// question, and no list of algorithms.
type world struct {
	Options
	Algorithms func(collective.Kind) []string
	Check      func(collective.Kind, Algorithm) error
	Shape      func(collective.Spec, Algorithm, unit.Bytes) (collective.Spec, error)
	Input      collective.Shape // of every rank
}

func testOptions() world { return world{Algorithms: known, Check: judged, Shape: shaped} }

// load goes all the way from text to points.
func load(file string, text []byte, w world) (*Scenario, error) {
	d, err := Read(file, text, w.Options)
	if err != nil {
		return nil, err
	}
	var facts Facts
	if w.Algorithms != nil {
		facts.Algorithms = map[collective.Kind][]string{}
		for _, k := range collective.Kinds() {
			facts.Algorithms[k] = w.Algorithms(k)
		}
	}
	for {
		s, open, err := d.Points(facts)
		if err != nil || len(open) == 0 {
			return s, err
		}
		for _, q := range open {
			facts.Answers = append(facts.Answers, w.answer(q))
		}
	}
}

func (w *world) answer(q Question) Answer {
	a, p := Answer{Question: q}, q.Point
	switch {
	case q.Topic == WhetherAlgorithm && w.Check != nil:
		a.Err = w.Check(p.Spec.Kind, p.Algorithm)
	case q.Topic == WhichSizes:
		a.Spec, a.Err = w.Shape(p.Spec, p.Algorithm, p.Whole)
	case q.Topic == WhichShapes:
		a.Shapes = slices.Repeat([]collective.Shape{w.Input}, p.Topology.Ranks)
	case q.Topic == WhichSplits:
		a.Splits = [][]int64{{1, 2}, {3, 4}}
		if p.Data.Input == "dispatch.csv" { // of an example
			a.Splits = slices.Repeat([][]int64{make([]int64, 8)}, 8)
		}
	case q.Topic == WhichTensor:
		a.Shapes, a.Type = []collective.Shape{{4, 8}}, dtype.Float32
	case q.Topic == WhichGraph:
		a.Graph = "ring=" + q.Point.Data.Input
	case q.Topic == WhichProgram:
		name := fmt.Sprint("traced ", q.Source.Alike, q.Source.Order, q.Source.Shares() != nil)
		a.Program = &ProgramFile{Ops: []ProgramOp{{Name: name, Kernel: "opaque 1 us", At: -1}}}
	}
	return a
}

// flags finds the lines "#! --set x" and "#! --only x" of a test's scenario, comments to TOML.
func flags(text string) (set, only []string) {
	for _, line := range strings.Split(text, "\n") {
		if one, ok := strings.CutPrefix(line, "#! --set "); ok {
			set = append(set, one)
		}
		if one, ok := strings.CutPrefix(line, "#! --only "); ok {
			only = append(only, one)
		}
	}
	return set, only
}
