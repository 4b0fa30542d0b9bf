package run

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/formats"
	"collsim/internal/nearest"
	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/unit"
)

// source is a file that a scenario names as an algorithm.
type source struct {
	name    string // as errors call it
	limit   unit.Bytes
	text    []byte
	parts   [][]byte  // in place of text: the file of every rank, where name has {rank}
	stream  io.Reader // in place of text: a file that is read once
	format  formats.Format
	options formats.Options // of its parameters
	own     *formats.File   // read as it is, at its own size
}

// load reads the file of an algorithm, unless that has been done. What cannot be read at any size
// is refused here.
func (s *Scenario) load(a scenarios.Algorithm) (*source, error) {
	if src := s.files[a.String()]; src != nil {
		return src, nil
	}
	src := &source{name: s.disk.resolve(a.File), limit: s.limit}
	var err error
	if src.options, err = fileOptions(a.Params); err != nil {
		return nil, err
	}
	done, err := src.fetch(s.file, a.File, s.disk)
	if err != nil {
		return nil, err
	}
	defer done()
	if src.own, err = src.read(src.options); err != nil {
		return nil, err
	}
	if src.own.Schedule == nil {
		return nil, fmt.Errorf("%s is no schedule: %s", src.name, strings.Join(src.own.Notes, "; "))
	}
	if src.format.Dataless { // it is the same at every size: see at
		src.text, src.parts, src.stream = nil, nil, nil
	}
	s.files[a.String()] = src
	return src, nil
}

// fetch gets the content of the file, or of those of all ranks, and finds out its format. done is
// to be called when it has been read.
func (src *source) fetch(scenario, file string, d *disk) (done func(), err error) {
	done = func() {}
	if strings.Contains(file, formats.RankInName) {
		src.format, _ = formats.Lookup(formats.Trace)
		src.parts, err = formats.ReadParts(src.name, d.file)
		return done, err
	}
	if opened := src.open(scenario, d); opened != nil {
		return opened, nil
	}
	if src.text, err = scenarioFile(scenario, file, src.name, d); err != nil {
		return nil, err
	}
	head := src.text[:min(len(src.text), formats.HeadSize)]
	var ok bool
	if src.format, ok = formats.Sniff(src.name, head); !ok {
		return nil, fmt.Errorf("%s is of no known format; %s", src.name, formats.Hint())
	}
	return done, nil
}

// open opens a file without data, which is read once, and returns what closes it. It returns nil
// for any other file, and for what cannot be opened.
func (src *source) open(scenario string, d *disk) (done func()) {
	if d.open == nil || strings.HasPrefix(scenario, "example:") {
		return nil
	}
	f, err := d.open(src.name, d.limit)
	if err != nil {
		return nil
	}
	done = func() { _ = f.Close() } // it was read only
	in := bufio.NewReaderSize(f, formats.HeadSize)
	head, _ := in.Peek(formats.HeadSize) // an error is found again when all is read
	format, known := formats.Sniff(src.name, head)
	if !known || !format.Dataless {
		done()
		return nil
	}
	src.format, src.stream = format, in
	return done
}

// scenarioFile returns the content of a file that a scenario names. Next to an example the file
// may be embedded, too.
func scenarioFile(scenario, file, resolved string, d *disk) ([]byte, error) {
	if strings.HasPrefix(scenario, "example:") {
		if text, err := scenarios.ExampleFile(file); err == nil {
			return text, nil
		}
	}
	text, err := d.file(resolved)
	if err != nil {
		return nil, fmt.Errorf("%w%s", formats.Unreadable(err), near(resolved, err))
	}
	return text, nil
}

// near suggests the file with the most similar name beside one that is not there.
func near(name string, err error) string {
	if !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(filepath.Dir(name), `*?[\`) {
		return ""
	}
	there, err := filepath.Glob(filepath.Join(filepath.Dir(name), "*"))
	if err != nil {
		return ""
	}
	if found := nearest.To(filepath.Clean(name), there, 1); len(found) > 0 {
		return "; did you mean " + found[0] + "?"
	}
	return ""
}

func (src *source) decode(o formats.Options) (*formats.File, error) {
	o.Limit = src.limit
	if src.stream != nil {
		return formats.Read(src.name, src.stream, o)
	}
	if src.parts == nil {
		return formats.Read(src.name, bytes.NewReader(src.text), o)
	}
	files := make([]formats.Part, len(src.parts))
	for rank, part := range src.parts {
		files[rank] = formats.Part{Name: formats.PartName(src.name, rank),
			Reader: bytes.NewReader(part)}
	}
	return formats.ReadTrace(src.name, files, o)
}

// read decodes the file; its errors have one line.
func (src *source) read(o formats.Options) (*formats.File, error) {
	return oneLine(src.decode(o))
}

func oneLine(f *formats.File, err error) (*formats.File, error) {
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n  ", "; "))
	}
	return f, nil
}

// fileOptions reads the parameters of "file:my.xml(protocol=LL)".
func fileOptions(params []scenarios.Param) (o formats.Options, err error) {
	names := []string{"protocol", "strict_nop", "as", "runtime"}
	for _, p := range params {
		switch p.Name {
		case "protocol":
			o.Protocol = p.Value
		case "runtime":
			o.Runtime = p.Value
		case "as":
			o.As, err = collective.ParseKind(p.Value)
		case "strict_nop":
			if o.StrictNop = p.Value == "true"; !o.StrictNop && p.Value != "false" {
				err = fmt.Errorf("strict_nop=%s: true or false is expected", p.Value)
			}
		default:
			text := fmt.Sprintf("a file takes no parameter %s", p.Name)
			if near := nearest.To(p.Name, names, 1); len(near) > 0 {
				text += "; did you mean " + near[0] + "?"
			} else {
				text += "; there are " + strings.Join(names, ", ")
			}
			err = errors.New(text)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// checkKind compares what a file computes with what the scenario asks for.
func (src *source) checkKind(kind collective.Kind) error {
	own := src.own.Schedule.Spec.Kind
	if src.format.Dataless || src.format.Name == formats.Text || own == kind {
		return nil // of our text form, fit says more
	}
	return fmt.Errorf("%s computes %v, the scenario asks for %v; as=%v in brackets behind its name "+
		"takes it as that", src.name, own, kind, kind)
}

// shape returns spec with the inputs and outputs of the custom collective in a file.
func (s *Scenario) shape(spec collective.Spec, a scenarios.Algorithm,
	size unit.Bytes) (collective.Spec, error) {
	src := s.files[a.String()]
	f, err := src.at(spec, size)
	if err != nil {
		return spec, err
	}
	if err := src.checkRanks(f, spec.Ranks); err != nil {
		return spec, err
	}
	own := f.Schedule.Spec
	if own.Kind != collective.Custom {
		return spec, fmt.Errorf("the schedule is for the collective %v, not custom", own.Kind)
	}
	spec.Splits, spec.InPlace, spec.Type = own.Splits, own.InPlace, own.Type
	return spec, nil
}

func (src *source) checkRanks(f *formats.File, ranks int) error {
	if own := f.Schedule.Spec.Ranks; own != ranks {
		return fmt.Errorf("%s is for %s, the scenario has %d", src.name, prose.Plural(own, "rank"),
			ranks)
	}
	return nil
}

// at reads the file for a collective; size is the bytes of a custom one.
func (src *source) at(spec collective.Spec, size unit.Bytes) (*formats.File, error) {
	o := src.options
	o.File, o.Root = src.name, spec.Root
	if src.format.Dataless {
		if o.As == 0 && spec.Kind != collective.Custom {
			o.As = spec.Kind
		}
		return oneLine(formats.HeldTo(src.own, o))
	}
	o.Op, o.Avg, o.Factor = spec.Op, spec.Avg, spec.Factor
	switch {
	case spec.Kind == collective.Custom:
		o.Type, o.Bytes = spec.Type, size
		return src.read(o)
	}
	o.Type, o.Count = spec.Type, spec.Count
	f, err := src.read(o)
	if err != nil || f.Schedule.Spec.InPlace == spec.InPlace {
		return f, err
	}
	if o.Place = formats.OutOfPlace; spec.InPlace {
		o.Place = formats.InPlace
	}
	f, err = src.read(o)
	if err != nil {
		return nil, fmt.Errorf("%w (in_place = %v here)", err, spec.InPlace)
	}
	return f, nil
}

// fromFile returns the schedule of a file for a collective of a point.
func (s *Scenario) fromFile(p *scenarios.Point, spec collective.Spec,
	a scenarios.Algorithm) (*formats.File, error) {
	src := s.files[a.String()]
	if src.format.Name == formats.Text {
		fitted, err := formats.Fit(src.own.Schedule, spec)
		if err != nil {
			return nil, err
		}
		return &formats.File{Format: formats.Text, Schedule: fitted}, nil
	}
	if err := src.checkRanks(src.own, spec.Ranks); err != nil {
		return nil, err
	}
	if src.format.Dataless && p.Teams != nil {
		return nil, fmt.Errorf("%s holds messages without data, of all ranks: no teams can execute it",
			src.name)
	}
	if spec.Kind.Splits() && spec.Kind != collective.Custom && !src.format.Dataless {
		return nil, fmt.Errorf("%s gives no sizes for every rank, as %v needs", src.name, spec.Kind)
	}
	if spec.Empty() {
		return nil, &illegal{errors.New("a file's steps move something; a count of 0 has none")}
	}
	f, err := src.at(spec, p.Whole)
	if err != nil {
		return nil, &illegal{err}
	}
	if p.Sim.SlotsSet {
		f.Schedule = withSlots(f.Schedule, p.Sim.Slots)
	}
	return f, nil
}

// mayLeaveOut reports whether a point that its algorithm cannot do is skipped instead of refused:
// of "all", or one of several points of a file.
func (s *Scenario) mayLeaveOut(p *scenarios.Point) bool {
	if p.Algorithm.Every || !p.Algorithm.FromFile() {
		return p.Algorithm.Every
	}
	name := p.Algorithm.String()
	return slices.ContainsFunc(s.Points, func(q *scenarios.Point) bool {
		return q != p && q.Algorithm.String() == name
	})
}
