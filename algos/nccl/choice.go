package nccl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// Setting has everything but the call that decides how NCCL does it. The zero value is an H100
// machine with all ranks on one node, and leaves every choice to the library.
type Setting struct {
	Machine  string // a name of Machines, or Facts as text; "" is the first of Machines
	PerNode  int    // ranks of a node, which divides the ranks; all if 0
	Among    []Way  // the ways to choose from; nil is all that the library has
	Channels int    // of the communicator (NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS); 0: found
	// Pieces counts the parts of a slice that LL and LL128 hand on as they arrive, along chains and
	// trees; 0 is 8.
	Pieces int
	// Rings are orders of the ranks of a node, by ring; nil where all are that of the ranks.
	Rings [][]int32
	// NoMulticast says that no switch of a node multicasts and reduces, or that NCCL_NVLS_ENABLE is 0:
	// there is no NVLS.
	NoMulticast bool
	// NoAggregation says that no switch between nodes does: there is no CollNet. CollNet is asked for
	// by NCCL_COLLNET_ENABLE, or by ways that are CollNet's alone.
	NoAggregation bool
	Env           *Env   // nil: no variable is set
	Version       string // of NCCL, as releaseOf reads it; "" is the newest
	Tuner         *Tuner // nil: NCCL has no tuner plugin
	SkipEmpty     bool   // no message is sent of a block of an all_to_allv that has no elements
}

// Choice describes how NCCL does a call, by its own model.
type Choice struct {
	Way
	Channels int     // that it may take of the communicator's
	Used     int     // that it takes, each with a part of the data
	Threads  int     // of a channel; a kernel has the most of its calls, and 128 at least
	Time     float64 // by the model, in microseconds; 0 of a way that the library never takes
	// Others are the other ways, the fastest first, with their times.
	Others []Other

	isTuned bool       // there is a tuner plugin
	line    *TunerLine // that it has found; nil: none
	all     int        // channels of the communicator
	pieces  int        // of a slice: see handsLines
	rings   [][]int32  // orders of the ranks of a node; nil: that of the ranks
	// crosses says that in odd nodes the rings of channels 0 and 1, 2 and 3 … change places.
	crosses bool
	model   *model
}

// Other is a way that was not chosen.
type Other struct {
	Way
	Time float64
}

// Choose returns what NCCL does for a call: the first of the fastest ways of its tables that has
// a schedule. The error says why there is none.
func Choose(spec collective.Spec, s Setting) (*Choice, error) {
	m, err := s.model(&spec)
	if err != nil {
		return nil, err
	}
	switch {
	case spec.Kind.Reduces() && !slices.Contains(Types(), spec.Type):
		return nil, fmt.Errorf("NCCL has no %v to reduce", spec.Type)
	case spec.Op >= collective.And:
		return nil, fmt.Errorf("NCCL has no operator %v", spec.Op)
	case spec.Kind.Reduces() && float8(spec.Type) && !m.hasFloat8:
		return nil, fmt.Errorf("NCCL %s has no %v to reduce", m.release.name, spec.Type)
	}
	c := &Choice{Time: never, model: m, pieces: cmp.Or(s.Pieces, mostPieces), isTuned: s.Tuner != nil}
	bytes, found := callBytes(&spec), false
	for a := range algorithms {
		for p := range protocols {
			w := Way{a, p}
			us, ok := m.time(&spec, w, bytes)
			if ok {
				c.Others = append(c.Others, Other{w, us})
			}
			asked := s.Among == nil || slices.Contains(s.Among, w)
			switch {
			case !asked || !w.legal(spec.Kind):
			case ok && us < c.Time:
				c.Way, c.Time, found = w, us, true
			case !ok && s.Among != nil && !found && c.forced(&spec, w): // forced to, it does
				c.Way, found = w, true
			}
		}
	}
	if !found && m.keepsRings && m.env != nil && m.env.notListed[spec.Kind] != nil {
		s.Env = m.env.withRings(spec.Kind) // before 2.24 rings stay where a list leaves nothing
		if len(s.Env.notListed[spec.Kind]) < len(m.env.notListed[spec.Kind]) {
			return Choose(spec, s)
		}
	}
	if !found {
		return nil, fmt.Errorf("NCCL does no %s by %s%s", called(&spec), s.among(),
			cmp.Or(m.whyNone(&spec, s.Among), m.whyTaken()))
	}
	if c.isTuned {
		c.tune(&spec, s, bytes)
	}
	if c.Time == never {
		c.Time = 0
	}
	c.Others = slices.DeleteFunc(c.Others, func(o Other) bool { return o.Way == c.Way })
	slices.SortStableFunc(c.Others, func(x, y Other) int { return cmp.Compare(x.Time, y.Time) })
	c.order(s.Rings)
	c.all = m.communicator(c.Way, s.Channels)
	switch c.Channels, c.Threads = c.channels(bytes); {
	case bytes > 0 && m.overNetwork(c.Algorithm):
		c.Used = c.Channels
	case bytes > 0:
		c.Used = len(c.parts(&spec))
	}
	return c, nil
}

// channels returns the model's channelsFor, with the channels that the tuner plugin sets.
func (c *Choice) channels(bytes int64) (used, threads int) {
	used, threads = c.model.channelsFor(c.Way, bytes, c.all)
	if c.isTuned {
		used = min(c.line.channels(used), c.all)
	}
	return used, threads
}

// tune takes the way of the line that the tuner plugin finds for a call.
func (c *Choice) tune(spec *collective.Spec, s Setting, bytes int64) {
	m := c.model
	c.line = s.Tuner.line(spec.Kind, bytes, m.nodes, m.ranks, func(w Way) bool {
		_, ok := m.time(spec, w, bytes)
		return ok && (s.Among == nil || slices.Contains(s.Among, w))
	})
	if c.line != nil {
		c.Way = c.line.Way
		c.Time, _ = m.time(spec, c.Way, bytes)
	}
}

// tuned says what the tuner plugin has done; "" where there is none.
func (c *Choice) tuned() string {
	switch {
	case !c.isTuned:
		return ""
	case c.line == nil:
		return "no line of the tuner's file matches, which leaves 1 channel"
	}
	return fmt.Sprintf("by line %d of the tuner's file", c.line.Number)
}

// order takes over the orders of the ranks of a node: those that NCCL's search has found, or else
// those that are given.
func (c *Choice) order(given [][]int32) {
	found := c.model.Found
	switch {
	case found != nil:
		c.rings = found.ordersOf(c.Algorithm)
		c.crosses = c.Algorithm == Ring && found.Ring.Crosses
	case given != nil && len(given[0]) == c.model.perNode:
		c.rings = given
	}
}

// forced reports whether a way that the library never takes by itself can be had of it.
func (c *Choice) forced(spec *collective.Spec, w Way) bool {
	scaled := spec.Op == collective.Avg || spec.Op == collective.PremulSum
	return !w.Algorithm.usesSwitch() && !w.Algorithm.isCollNet() && (w.Algorithm != PAT || !scaled) &&
		c.model.env.takes(spec.Kind, w) == ""
}

// called names a call, as "all_reduce avg".
func called(s *collective.Spec) string {
	if s.Op == 0 {
		return s.Kind.String()
	}
	return fmt.Sprintf("%v %v", s.Kind, s.Op)
}

func (s *Setting) among() string {
	var names []string
	for _, w := range s.Among {
		names = append(names, w.String())
	}
	if names == nil {
		return "any of its algorithms"
	}
	return strings.Join(names, " or ")
}

// model returns the cost model of the setting.
func (s *Setting) model(spec *collective.Spec) (*model, error) {
	machine, err := machineOf(s.Machine)
	if err != nil {
		return nil, err
	}
	isAlone := machine.Facts.GPUs == 1
	perNode := s.PerNode
	switch {
	case perNode == 0 && isAlone:
		perNode = 1
	case perNode == 0:
		perNode = spec.Ranks
	}
	switch {
	case perNode < 0 || perNode > spec.Ranks || spec.Ranks%perNode != 0:
		return nil, fmt.Errorf("per_node=%d: a divisor of the %d ranks is expected", perNode, spec.Ranks)
	case isAlone && perNode != 1:
		return nil, fmt.Errorf("per_node=%d: of machine=%s it is 1", perNode, s.Machine)
	case s.Channels < 0 || s.Channels > MaxChannels:
		return nil, fmt.Errorf("nchannels=%d: 1 to %d is expected", s.Channels, MaxChannels)
	}
	r, err := releaseOf(s.Version)
	if err != nil {
		return nil, fmt.Errorf("version=%.40s: %w", s.Version, err)
	}
	if err := machine.Facts.Fits(perNode, spec.Ranks); err != nil {
		return nil, err
	}
	_, cross := s.Env.levels()
	machine.Facts.staysOnNIC = cross == 0 && perNode > 1 && perNode < spec.Ranks
	m := modelOf(&machine, r, spec.Ranks, perNode)
	if err := s.Env.fits(r); err != nil {
		return nil, err
	}
	m.env, m.noMulticast = s.Env, s.NoMulticast || s.Env != nil && s.Env.noNVLS
	m.noAggregation, m.collNet = s.NoAggregation, s.collNet()
	if m.noNetwork() == "" {
		m.channels = m.collNetChannels(m.channels)
	}
	m.channels = min(s.Env.channels(m.channels), r.mostChannels)
	return m, nil
}

// collNet reports whether CollNet is asked for.
func (s *Setting) collNet() bool {
	if s.Env != nil && s.Env.collNet != unset {
		return s.Env.collNet == enabled
	}
	return s.Among != nil && !slices.ContainsFunc(s.Among, func(w Way) bool {
		return !w.Algorithm.isCollNet()
	})
}

// pick returns the choice with its reason, as results have it.
func (c *Choice) pick() algos.Pick {
	p := algos.Pick{What: fmt.Sprintf("%v, %d of %d channels", c.Way, c.Used, c.all),
		Algorithm: c.Algorithm.String(), Protocol: c.Protocol.String(), Channels: c.Used,
		Threads: c.Threads, Time: unit.Time(math.Round(c.Time * 1e6))}
	var why []string
	if c.Time > 0 {
		why = append(why, fmt.Sprintf("%.1f us by NCCL's model", c.Time))
	}
	if len(c.Others) > 0 {
		first := c.Others[0]
		p.Other = fmt.Sprintf("%v %.1f", first.Way, first.Time)
		if c.Time > 0 && first.Time >= c.Time {
			why[0] += fmt.Sprintf(", next %v %.1f us", first.Way, first.Time)
		} else {
			why = append(why, fmt.Sprintf("NCCL takes %v, %.1f us", first.Way, first.Time))
		}
	}
	if !c.model.isKnown(c.model.nodes, c.model.perNode) || c.Algorithm.isCollNet() {
		p.Inferred = true
		why = append(why, "rings inferred")
	}
	if v := c.model.release.name; v != newest {
		why = append(why, "NCCL "+v)
	}
	if tuned := c.tuned(); tuned != "" {
		why = append(why, tuned)
	}
	if e := c.model.env; e != nil && e.text != "" {
		why = append(why, e.text)
	}
	p.Why = strings.Join(why, "; ")
	return p
}

// Types lists the types that NCCL reduces.
func Types() []dtype.Type {
	return []dtype.Type{dtype.Int8, dtype.Uint8, dtype.Int32, dtype.Uint32, dtype.Int64,
		dtype.Uint64, dtype.Float16, dtype.Float32, dtype.Float64, dtype.BFloat16, dtype.Float8E4M3,
		dtype.Float8E5M2}
}
