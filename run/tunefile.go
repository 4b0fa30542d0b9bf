package run

import (
	"fmt"
	"slices"
	"strings"

	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/internal/prose"
	"collsim/unit"
)

// TuneFormat describes a file format in which a library reads the best choices.
type TuneFormat struct {
	Name, About string
	key         func(*Tuning) string // by which it distinguishes collectives
	write       func(x *tuneFile) error
}

// TuneFormats lists them, the usual one first.
func TuneFormats() []TuneFormat {
	return []TuneFormat{
		{"nccl-tuner", "the CSV of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE)",
			byCommunicator, (*tuneFile).ncclTuner},
		{"rccl-tuner", "the CSV of RCCL's own tuner (rccl_tuner.csv)", byCommunicator,
			(*tuneFile).rcclTuner},
		{"env", "NCCL_ALGO and NCCL_PROTO, where one setting serves all sizes",
			byKind, (*tuneFile).environment},
	}
}

// tuneFile is a file that is being written.
type tuneFile struct {
	list  []*Tuning
	all   bool // gains that are within the error of the model, too
	lines []string
	notes []string // on what the format cannot say
}

// WriteTuned writes what is best as a file of a format, all gains or those alone that are beyond
// the model's error, and notes on what the file does not say.
//
// REQUIRES: TunedFits has found nothing.
func (s *Scenario) WriteTuned(list []*Tuning, format TuneFormat, all bool) (text string,
	notes []string, err error) {
	defer func() { err = s.located(err) }()
	x := &tuneFile{list: list, all: all}
	if err := format.write(x); err != nil {
		return "", nil, err
	}
	return strings.Join(x.lines, "\n") + "\n", x.notes, nil
}

func (x *tuneFile) say(format string, args ...any) {
	x.lines = append(x.lines, fmt.Sprintf(format, args...))
}

func (x *tuneFile) note(format string, args ...any) {
	x.notes = append(x.notes, fmt.Sprintf(format, args...))
}

// TunedFits refuses collectives that a file of a format does not distinguish.
func (s *Scenario) TunedFits(list []*Tuning, format TuneFormat) error {
	seen := map[string]bool{}
	for _, t := range list {
		key := format.key(t)
		if seen[key] {
			return s.located(t.Point.Refuse("collective", fmt.Sprintf("a file of format %s has one choice "+
				"for %s; collectives that differ in something else cannot be told apart", format.Name, key),
				"--only keeps one"))
		}
		seen[key] = true
	}
	return nil
}

// byKind returns the kind of a tuning, by which NCCL_ALGO and NCCL_PROTO distinguish calls.
func byKind(t *Tuning) string { return t.Point.Spec.Kind.String() }

// byCommunicator returns all that a line of a tuner matches but sizes, as a key.
func byCommunicator(t *Tuning) string {
	return fmt.Sprintf("%v of %d ranks on %s", t.Point.Spec.Kind, t.Ranks,
		prose.Plural(t.Nodes, "node"))
}

// Written reports whether a size's best goes into files, where all gains do or those beyond the
// model's error alone.
func (t *Tuned) Written(all bool) bool { return t.IsBeyond() || all && t.Gain() > 0 }

// best returns the lines that are written for a collective: each size's choice holds from there
// to below the next size, or to below twice as much. Equal neighbours are one.
func (x *tuneFile) best(t *Tuning) (lines []nccl.TunerLine) {
	for i := range t.Sizes {
		size := &t.Sizes[i]
		if !size.Written(x.all) {
			continue
		}
		end := 2*uint64(size.Bytes) - 1
		if i+1 < len(t.Sizes) {
			end = min(end, uint64(t.Sizes[i+1].Bytes)-1)
		}
		l := nccl.TunerLine{Kind: t.Point.Spec.Kind, From: uint64(size.Bytes), To: end,
			Way: size.Best.Way, Channels: size.Best.Channels, Nodes: t.Nodes, Ranks: t.Ranks,
			PipeOps: nccl.AnyTuned, RegBuff: nccl.AnyTuned}
		if n := len(lines); n > 0 && lines[n-1].To+1 == l.From && lines[n-1].Way == l.Way &&
			lines[n-1].Channels == l.Channels {
			lines[n-1].To = l.To
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// counted says at how many sizes of each collective what is written is faster.
func (x *tuneFile) counted() {
	for _, t := range x.list {
		n := 0
		for i := range t.Sizes {
			if t.Sizes[i].Written(x.all) {
				n++
			}
		}
		x.say("# %s, %s: faster at %d of %s", byCommunicator(t), typed(t), n,
			prose.Plural(len(t.Sizes), "size"))
	}
}

// typed returns the type and the operator: "float32 sum".
func typed(t *Tuning) string {
	spec := &t.Point.Spec
	if spec.Op == 0 {
		return spec.Type.String()
	}
	return spec.Type.String() + " " + OpOf(*spec)
}

// ncclTuner writes lines for the plugin: what is best, and behind it what NCCL takes by itself, for
// all kinds, since a call that no line matches takes 1 channel.
func (x *tuneFile) ncclTuner() error {
	x.say("# for NCCL's example tuner plugin, by collsim %s", Version)
	x.counted()
	x.say("# NCCL_TUNER_PLUGIN=libnccl-tuner-example.so NCCL_TUNER_CONFIG_FILE=this file")
	x.say("# channels: 0 leaves them to NCCL; -1, as the plugin's README has it, would be 1 channel")
	x.say("# collective,bytes from,to,algorithm,protocol,channels,nodes,ranks,group,registered")
	for _, t := range x.list {
		for _, l := range x.best(t) {
			x.say("%v", l)
		}
	}
	x.say("# NCCL's own choice everywhere else: a call that no line matches takes 1 channel")
	seen := map[[2]int]bool{}
	for _, t := range x.list {
		if at := [2]int{t.Nodes, t.Ranks}; !seen[at] {
			seen[at] = true
			if err := x.own(t); err != nil {
				return err
			}
		}
	}
	x.note("calls on other numbers of ranks or nodes match no line, and the plugin gives them 1 "+
		"channel: sweep over them, or load the plugin for communicators of %s alone", x.communicators())
	return nil
}

// communicators lists the ranks that there are lines for.
func (x *tuneFile) communicators() string {
	var all []string
	for _, t := range x.list {
		text := fmt.Sprintf("%d ranks", t.Ranks)
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, " or ")
}

// own writes NCCL's own choice for all kinds on a communicator. Where that is NVLS or NVLSTree,
// which do not add all types, what it takes without them stands behind.
func (x *tuneFile) own(t *Tuning) error {
	for _, kind := range nccl.Kinds() {
		for _, nvls := range []string{"", "false"} {
			lines, err := t.ownLines(kind, nvls)
			if err != nil {
				return err
			}
			uses := slices.ContainsFunc(lines, func(l nccl.TunerLine) bool {
				return l.Algorithm == nccl.NVLS || l.Algorithm == nccl.NVLSTree
			})
			for _, l := range lines {
				x.say("%v", l)
			}
			if !uses {
				break
			}
		}
	}
	return nil
}

// ownLines returns NCCL's own choices for a kind, from 0 bytes on: without NVLS if nvls is
// "false", as NCCL has it if nvls is empty.
func (t *Tuning) ownLines(kind collective.Kind, nvls string) ([]nccl.TunerLine, error) {
	p := t.at(t.Sizes[0].Bytes)
	if nvls != "" {
		p.Algorithm = with(p.Algorithm, "nvls", nvls)
	}
	spec := specOf(p)
	if spec.Kind = kind; !kind.Reduces() {
		spec.Op = 0
	} else if spec.Op == 0 {
		spec.Op = collective.Sum
	}
	row, err := find(kind, t.Algorithm.Name)
	if err != nil {
		return nil, err
	}
	found, err := nccl.Thresholds(row, spec, optionsOn(p, p.Algorithm, row))
	if err != nil {
		return nil, p.Refuse("collective.algorithm", reason(err), "")
	}
	var lines []nccl.TunerLine
	for i, at := range found {
		l := nccl.TunerLine{Kind: kind, To: nccl.MostTuned, Way: at.Way, Nodes: t.Nodes, Ranks: t.Ranks,
			PipeOps: nccl.AnyTuned, RegBuff: nccl.AnyTuned}
		if spec.Count = at.Count; i > 0 {
			l.From = uint64(spec.Bytes())
			lines[i-1].To = l.From - 1
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// rcclTuner writes what is best for RCCL, which keeps its own choice where no line matches.
func (x *tuneFile) rcclTuner() error {
	x.say("# for RCCL's tuner, by collsim %s", Version)
	x.counted()
	x.say("# NCCL_TUNER_CONFIG_FILE=this file, or share/rccl/tuner/rccl_tuner.csv")
	x.say("# channels: -1 leaves them to RCCL, as a call that no line matches is left to it")
	left := map[string]bool{}
	for _, t := range x.list {
		for _, l := range x.best(t) {
			if l.Algorithm != nccl.Ring && l.Algorithm != nccl.Tree {
				left[l.Algorithm.String()] = true
				continue
			}
			if l.Channels == 0 {
				l.Channels = nccl.AnyTuned
			}
			x.say("%v", l)
		}
	}
	for _, a := range []nccl.Algorithm{nccl.NVLS, nccl.NVLSTree, nccl.PAT, nccl.CollNetDirect,
		nccl.CollNetChain} {
		if left[a.String()] {
			x.note("lines of %v are left out: RCCL's tuner has Ring and Tree", a)
		}
	}
	x.note("times are of NCCL's algorithms, and what RCCL takes by itself is not known here")
	return nil
}

// environment writes variables for the kinds that one setting serves at all sizes.
func (x *tuneFile) environment() error {
	x.say("# for /etc/nccl.conf or a shell, of NCCL 2.24 or later, by collsim %s", Version)
	var algorithms, protocols []string
	for _, t := range x.list {
		best, err := t.setting(x.all)
		if err != nil {
			return err
		}
		kind := t.Point.Spec.Kind
		if best == nil {
			x.say("# %s: no setting is faster at one size, and slower at none", byCommunicator(t))
			x.note("%v: no one setting serves all sizes; --format nccl-tuner has a choice by size", kind)
			continue
		}
		x.say("# %s, %s: up to %.1f %% less time (%v), at no size from %v to %v more",
			byCommunicator(t), typed(t), 100*best.gain, best.at, t.Sizes[0].Bytes,
			t.Sizes[len(t.Sizes)-1].Bytes)
		if best.algorithms != "" {
			algorithms = append(algorithms, nccl.FunctionOf(kind)+":"+best.algorithms)
		}
		if best.protocols != "" {
			protocols = append(protocols, nccl.FunctionOf(kind)+":"+best.protocols)
		}
	}
	for _, v := range []struct {
		name  string
		lists []string
	}{{"NCCL_ALGO", algorithms}, {"NCCL_PROTO", protocols}} {
		if v.lists != nil {
			x.say("%s=%s", v.name, strings.Join(v.lists, ";"))
		}
	}
	return nil
}

// choiceLists holds values of NCCL_ALGO and NCCL_PROTO for a kind, "" of a variable that is not
// set.
type choiceLists struct {
	algorithms, protocols string
	gain                  float64 // the most
	at                    unit.Bytes
	score                 float64 // the sum of times over NCCL's own
}

// setting returns the best lists with which NCCL takes no longer at any size, and less at one;
// nil if there are none. Variables that are set already stay as they are.
func (t *Tuning) setting(all bool) (best *choiceLists, err error) {
	already := optionsOn(t.at(t.Sizes[0].Bytes), t.Algorithm, t.row).Environment
	lists := func(variable string, names []string) []string {
		list := []string{""}
		if strings.Contains(already, variable+"=") {
			return list
		}
		for _, name := range names {
			list = append(list, "^"+name, name)
		}
		return list
	}
	var ways, protocols []string
	for _, w := range t.ways() {
		if a := strings.ToLower(w.Algorithm.String()); !slices.Contains(ways, a) {
			ways = append(ways, a)
		}
		if p := strings.ToLower(w.Protocol.String()); !slices.Contains(protocols, p) {
			protocols = append(protocols, p)
		}
	}
	for _, a := range lists("NCCL_ALGO", ways) {
		for _, p := range lists("NCCL_PROTO", protocols) {
			s := &choiceLists{algorithms: a, protocols: p}
			serves, err := t.serves(s, already, all)
			if err != nil {
				return nil, err
			}
			if serves && (best == nil || s.score < best.score) {
				best = s
			}
		}
	}
	return best, nil
}

// ways returns the algorithms and protocols that NCCL may take, in its order.
func (t *Tuning) ways() (all []nccl.Way) {
	costs, err := t.costs(&t.Sizes[0])
	if err != nil {
		return nil
	}
	for _, c := range costs.Ways {
		if c.Off == "" {
			all = append(all, c.Way)
		}
	}
	return all
}

// serves reports whether a setting takes no longer than NCCL's own choice at any size, and less at
// one that counts.
func (t *Tuning) serves(s *choiceLists, already string, all bool) (bool, error) {
	text := already
	name := nccl.FunctionOf(t.Point.Spec.Kind)
	if s.algorithms != "" {
		text += " NCCL_ALGO=" + name + ":" + s.algorithms
	}
	if s.protocols != "" {
		text += " NCCL_PROTO=" + name + ":" + s.protocols
	}
	counts := false
	for i := range t.Sizes {
		size := &t.Sizes[i]
		p := t.at(size.Bytes)
		o := optionsOn(p, t.Algorithm, t.row)
		o.Environment = text
		costs, err := nccl.CostsOf(t.row, specOf(p), o)
		if err != nil {
			return false, nil // it leaves no way
		}
		c, err := t.simulate(size, tunedKey{costs.Taken, 0}, size.Own.Time)
		switch {
		case err != nil && leavesOut(err):
			return false, nil
		case err != nil:
			return false, err
		case c.Time > size.Own.Time:
			return false, nil
		}
		gain := 1 - float64(c.Time)/float64(size.Own.Time)
		if counts = counts || gain > size.Error || all && gain > 0; gain > s.gain {
			s.gain, s.at = gain, size.Bytes
		}
		s.score += float64(c.Time) / float64(size.Own.Time)
	}
	return counts, nil
}
