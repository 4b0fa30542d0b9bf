package scenarios

import (
	"fmt"
	"maps"
	"slices"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/machine"
	"collsim/unit"
)

// Facts hold what a document needs before it becomes points: the names of algorithms, and the
// contents of the files that it names.
type Facts struct {
	// Algorithms are the names of each kind's algorithms; none for kinds that nothing computes. Nil
	// takes every name, and leaves "all" as it is.
	Algorithms map[collective.Kind][]string
	// Libraries are the names of algorithms that a kind has besides, of libraries, as "openmpi:ring",
	// or made for a network: "all" does not stand for them.
	Libraries map[collective.Kind][]string
	Answers   []Answer
}

// Topic names the subject of a question.
type Topic uint8

// The topics.
const (
	// WhetherAlgorithm asks whether Point.Algorithm, whose name is known, or the file of that name,
	// does Point.Spec.Kind with its parameters.
	WhetherAlgorithm Topic = iota
	// WhichSizes asks for Answer.Spec: Point.Spec of kind custom with the sizes that the file of
	// Point.Algorithm has. Point.Whole is what bytes says, 0 where the file is to say it.
	WhichSizes
	// WhichShapes asks for Answer.Shapes, those in the file Point.Data.Input. Of the point kind,
	// type, root, ranks and teams are known.
	WhichShapes
	// WhichProgram asks for Answer.Program, that in Question.Source, of as many ranks as the network
	// has.
	WhichProgram
	// WhichTensor asks for Answer.Shapes and Answer.Type, those in the input file of
	// Question.Source.Tensor: the shape of a rank's part.
	WhichTensor
	// WhichSplits asks for Answer.Splits, the rows of whole numbers in the file Point.Data.Input.
	WhichSplits
	// WhichMachine asks for Answer.Machine, that in the file Point.Data.Input; Point.Device.Name is
	// the device that the scenario names, for files that do not say it.
	WhichMachine
	// WhichGraph asks for Answer.Graph, what the file Point.Data.Input says that NCCL has found.
	WhichGraph
)

// Question asks for one fact that a document needs. Each is asked once, however many points need
// it.
type Question struct {
	Topic  Topic
	Point  *Point // no more of it than the topic says
	Source *ProgramSource

	key questionKey
}

// Answer is the answer to a question: Err says what is wrong, if anything is.
type Answer struct {
	Question Question
	Err      error
	Spec     collective.Spec
	Type     dtype.Type
	Shapes   []collective.Shape // of every rank of the network, nil for those that pass none
	Program  *ProgramFile
	Splits   [][]int64 // as they stand in the file: how many there must be is for the document
	Machine  *machine.Machine
	Graph    string // in the words of the library's algorithms
}

// questionKey identifies a question.
type questionKey struct {
	topic     Topic
	spec      collective.Key
	algorithm string
	ranks     int // of the network
	teams     string
	whole     unit.Bytes
	input     string
	device    string
	source    string
}

// named is an algorithm of a kind.
type named struct {
	kind      collective.Kind
	algorithm string
}

// run holds what is the same for many points of a scenario.
type run struct {
	d          *Document // whose errors are those of this run alone
	all        []*run    // of its variants; itself where there are none
	variants   int       // that there are, in the run of one
	algorithms map[collective.Kind][]string
	libraries  map[collective.Kind][]string
	answers    map[questionKey]Answer
	asked      map[questionKey]bool
	open       []Question
	used       map[string]bool // keys that had a meaning for some point
	common     map[string]bool // and for all of them: those of the scenario as a whole
	idles      map[*Point][]idleAxis
	views      map[*Point]func() *view // the document as each point sees it
	networks   map[string]usedNetwork
	checked    map[named]*problem
}

func newRun(d *Document, known Facts) *run {
	own := *d
	own.errs = collector{slices.Clone(d.errs.list), maps.Clone(d.errs.seen)}
	r := &run{d: &own, algorithms: known.Algorithms, libraries: known.Libraries,
		answers: map[questionKey]Answer{}, asked: map[questionKey]bool{}, used: map[string]bool{},
		common: map[string]bool{}, idles: map[*Point][]idleAxis{},
		views: map[*Point]func() *view{}, networks: map[string]usedNetwork{},
		checked: map[named]*problem{}}
	own.ask = r.ask
	for _, a := range known.Answers {
		r.answers[a.Question.key] = a
	}
	return r
}

// ask returns the answer to a question, and whether there is one yet. The question shows no more of
// the point than its topic needs, so that points which agree in that share an answer.
func (r *run) ask(about Topic, p *Point) (Answer, bool) { return r.askOf(about, p, nil) }

// askOf returns the answer to a question about a program's file, as ask does.
func (r *run) askOf(about Topic, p *Point, source *ProgramSource) (Answer, bool) {
	if p.Device == nil { // the topic needs none
		whole := *p
		whole.Device = &device.Device{}
		p = &whole
	}
	key := questionKey{topic: about, spec: p.Spec.Key(), algorithm: p.Algorithm.String(),
		teams: teams{lists: p.Teams}.String(), whole: p.Whole, input: p.Data.Input,
		device: p.Device.Name}
	if p.Topology != nil {
		key.ranks = p.Topology.Ranks
	}
	if source != nil {
		key.source = fmt.Sprintf("%+v", *source)
	}
	a, known := r.answers[key]
	if !known && !r.asked[key] {
		r.asked[key] = true
		r.open = append(r.open, Question{Topic: about, Point: p, Source: source, key: key})
	}
	return a, known
}
