package nccl

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"collsim/algos"
	"collsim/collective"
)

// Cost holds latency, bandwidth and time of an algorithm and protocol by NCCL's cost model, as its
// log prints them (NCCL_DEBUG_SUBSYS=TUNING).
type Cost struct {
	Way
	Latency   float64 // microseconds
	Bandwidth float64 // GB/s of 10⁹, without the correction of trees
	Corrected float64 // the bandwidth at this size
	Time      float64 // microseconds, at this size; 0 where it is switched off
	// Channels are those of the communicator that it may take, and Own how many of them NCCL lets the
	// call take.
	Channels, Own int
	Off           string // why the library never takes it; empty if it may
}

// Costs is NCCL's table of a call.
type Costs struct {
	Ways    []Cost // all that there are for the kind, in the library's order
	Nodes   int    // of the communicator
	Taken   Way
	Used    int // channels that the call takes
	PerNode int // ranks of a node
	// LaneSends are bytes that some lane sends at least, and RankSends those that some rank sends to
	// others of its node, flags included; 0: not known.
	LaneSends, RankSends int64
	Decided              string // what decided: bandwidth, latency, or that it was asked for
}

// CostsOf makes NCCL's table of a call, and what one of the algorithms of Table takes with these
// options. Its error says why that does not do the call.
func CostsOf(a algos.Algorithm, spec collective.Spec, o algos.Options) (*Costs, error) {
	s, err := settingAs(a, spec, o)
	if err != nil {
		return nil, err
	}
	c, err := Choose(spec, s)
	if err != nil {
		return nil, err
	}
	m, bytes := c.model, callBytes(&spec)
	x := &Costs{Taken: c.Way, Nodes: m.nodes, PerNode: m.perNode, Used: c.Used}
	x.LaneSends, x.RankSends = c.sends(&spec)
	for a := range algorithms {
		for p := range protocols {
			w := Way{a, p}
			if !w.legal(spec.Kind) || a.isCollNet() && m.noNetwork() != "" && a != c.Algorithm {
				continue
			}
			row := Cost{Way: w, Latency: m.latency(spec.Kind, w), Bandwidth: m.bandwidth(spec.Kind, w),
				Off: m.whyOff(&spec, w)}
			row.Channels = m.communicator(w, s.Channels)
			row.Own, _ = m.channelsFor(w, bytes, row.Channels)
			if row.Off == "" {
				row.Time, _ = m.time(&spec, w, bytes)
				row.Corrected = row.Bandwidth * m.correction(w, bytes)
			}
			x.Ways = append(x.Ways, row)
		}
	}
	if x.Decided = x.decided(float64(bytes)); c.line != nil {
		x.Decided = c.tuned()
	}
	return x, nil
}

// settingAs returns the setting of an algorithm of Table with options.
func settingAs(a algos.Algorithm, spec collective.Spec, o algos.Options) (Setting, error) {
	param := func(name string) string { return a.Param(name, o) }
	var among []Algorithm
	for x := range algorithms {
		if a.Name == Prefix+"auto" || a.Name == Prefix+x.row() {
			among = append(among, x)
		}
	}
	if among == nil {
		return Setting{}, fmt.Errorf("%s has no choice", a.Name)
	}
	return settingOf(spec, param, among)
}

// whyOff says why the library never takes a way by itself; empty if it may.
func (m *model) whyOff(spec *collective.Spec, w Way) string {
	switch why := m.env.takes(spec.Kind, w); {
	case why != "":
		return "off by " + why
	case w.Algorithm.usesSwitch():
		if why := m.noSwitch(spec, w.Algorithm); why != "" {
			return why
		}
	case w.Algorithm.isCollNet():
		if why := m.noCollNet(spec, w.Algorithm); why != "" {
			return why
		}
	case w.Algorithm == PAT && !m.hasPAT:
		return "NCCL " + m.release.name + " has none"
	case w.Algorithm == PAT && !m.has(spec, w):
		return "it is for one GPU a node, and not for avg"
	case !m.has(spec, w):
		return "LL128 is off on these links"
	}
	if m.bandwidth(spec.Kind, w) <= 0 {
		return "it has no bandwidth here"
	}
	return ""
}

// correction returns the factor that NCCL's model scales the bandwidth of a tree by at a size; 1
// for all else.
func (m *model) correction(w Way, bytes int64) float64 {
	log := bits.Len64(uint64(bytes/64)) - 1
	switch {
	case w.Algorithm == Tree && log >= 0 && log < 23:
		return treeCorrection[w.Protocol][log]
	case w.Algorithm == NVLSTree && m.correctsNVLS && m.generation() == blackwell && !m.AMD &&
		log >= 0 && log < 24:
		return treeCorrection[Simple][log]
	}
	return 1
}

// decided says by what the way that is taken wins over the fastest of the others.
func (x *Costs) decided(bytes float64) string {
	var taken, other *Cost
	for i := range x.Ways {
		switch c := &x.Ways[i]; {
		case c.Way == x.Taken:
			taken = c
		case c.Off == "" && (other == nil || c.Time < other.Time):
			other = c
		}
	}
	switch {
	case taken.Off != "":
		return "it was asked for; by itself NCCL never takes it"
	case other == nil:
		return "there is no other"
	case other.Time < taken.Time:
		return fmt.Sprintf("it was asked for; by itself NCCL takes %v", other.Way)
	}
	plain := func(c *Cost) float64 { return c.Latency + float64(bytes/(1000*c.Bandwidth)) }
	switch {
	case plain(other) < plain(taken) && other.Corrected != other.Bandwidth:
		return fmt.Sprintf("the correction of trees: without it %v", other.Way)
	case taken.Latency < other.Latency && taken.Corrected > other.Corrected:
		return fmt.Sprintf("latency and bandwidth, over %v", other.Way)
	case taken.Latency < other.Latency:
		return fmt.Sprintf("latency, over %v", other.Way)
	}
	return fmt.Sprintf("bandwidth, over %v", other.Way)
}

// Threshold is a size from which on NCCL takes a way.
type Threshold struct {
	Way
	Count    int64  // elements of the call, as collective.Spec has them
	Channels [2]int // that a call takes, at this size and at the last before the next one
	Threads  [2]int // of a channel, likewise
}

// The sizes that are looked at: those of nccl-tests' tables.
const (
	leastBytes = 8
	mostBytes  = 8 << 30
)

// Thresholds returns the sizes from 8 B to 8 GiB from which on an algorithm of Table takes another
// way, to the element. Between powers of two all times are lines over the size, so that a way that
// is the fastest at both ends is so in between; where ends differ, halves are looked at.
func Thresholds(a algos.Algorithm, spec collective.Spec, o algos.Options) ([]Threshold, error) {
	each := int64(spec.Type.Width())
	if byBlocks(&spec) {
		each *= int64(spec.Ranks)
	}
	s, err := settingAs(a, spec, o)
	if err != nil {
		return nil, err
	}
	at := func(count int64) (*Choice, error) {
		spec.Count = count
		return Choose(spec, s)
	}
	first := max(1, up(leastBytes, each))
	c, err := at(first)
	if err != nil {
		return nil, err
	}
	ends := []int64{up(int64(64*c.model.ring.channels*c.model.ranks), each)} // of a ring's latency
	for bytes := int64(leastBytes); bytes <= mostBytes; bytes *= 2 {
		ends = append(ends, bytes/each)
	}
	ends = append(ends, s.Tuner.ends(spec.Kind, each)...)
	ends = slices.DeleteFunc(ends, func(n int64) bool { return n < first })
	slices.Sort(ends)
	found := []Threshold{{Way: c.Way, Count: first}}
	var between func(low, high *Choice, from, to int64) error
	between = func(low, high *Choice, from, to int64) error {
		switch {
		case low.Way == high.Way:
			return nil
		case to == from+1:
			found = append(found, Threshold{Way: high.Way, Count: to})
			return nil
		}
		middle := from + (to-from)/2
		mid, err := at(middle)
		if err != nil {
			return err
		}
		return cmp.Or(between(low, mid, from, middle), between(mid, high, middle, to))
	}
	from := first
	for _, end := range ends {
		for _, to := range []int64{end - 1, end} { // the line ends below a power of two
			if to <= from {
				continue
			}
			next, err := at(to)
			if err == nil {
				err = between(c, next, from, to)
			}
			if err != nil {
				return nil, err
			}
			c, from = next, to
		}
	}
	return found, measureThresholds(found, from, at)
}

// measureThresholds fills in channels and threads, up to the last size that is looked at.
func measureThresholds(found []Threshold, last int64, at func(count int64) (*Choice, error)) error {
	for i := range found {
		end := last
		if i+1 < len(found) {
			end = found[i+1].Count - 1
		}
		for k, count := range []int64{found[i].Count, end} {
			c, err := at(count)
			if err != nil {
				return err
			}
			found[i].Channels[k], found[i].Threads[k] = c.Used, c.Threads
		}
	}
	return nil
}
