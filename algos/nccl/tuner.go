package nccl

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
)

// Tuner holds the lines of a file of NCCL's example tuner plugin (plugins/tuner/example/plugin.c),
// which overrides algorithm, protocol and channels by kind and size.
type Tuner struct{ Lines []TunerLine }

// TunerLine overrides calls of a kind whose size and communicator it matches.
type TunerLine struct {
	Kind     collective.Kind
	From, To uint64 // bytes of a call, as NCCL counts them, both included
	Way
	// Channels that a call may take. 0 leaves them to the library. The plugin's README says so of −1,
	// but its code begins with 1 channel, and that is what −1 leaves.
	Channels     int
	Nodes, Ranks int // of the communicator; −1: any
	// PipeOps is the number of calls in a group that a channel has, and RegBuff is 1 where the buffers
	// are registered, 0 where they are not; −1: any. Calls here are single, and not registered.
	PipeOps, RegBuff int
	Number           int // of the line in its file, from 1
}

// AnyTuned is the value of a field of a line that matches everything.
const AnyTuned = -1

// MostTuned is the end of a line without one.
const MostTuned = math.MaxUint64

// String returns the line as the file has it.
func (l TunerLine) String() string {
	return fmt.Sprintf("%s,%d,%d,%s,%s,%d,%d,%d,%d,%d", FunctionOf(l.Kind), l.From, l.To,
		tunerNames()[l.Algorithm], strings.ToLower(l.Protocol.String()), l.Channels, l.Nodes, l.Ranks,
		l.PipeOps, l.RegBuff)
}

// Kinds lists the collectives that a tuner, and NCCL_ALGO and NCCL_PROTO, decide on.
func Kinds() (all []collective.Kind) {
	for _, f := range functions() {
		all = append(all, f.kind)
	}
	return all
}

// FunctionOf returns a collective's name in NCCL's files and variables.
func FunctionOf(kind collective.Kind) string {
	for _, f := range functions() {
		if f.kind == kind {
			return f.name
		}
	}
	return kind.String()
}

// tunerNames lists the plugin's names of algorithms, in the order of Algorithm.
func tunerNames() []string {
	return []string{"tree", "ring", "nvls", "nvls_tree", "pat", "collnet_direct", "collnet_chain"}
}

// The fields of a line: so many at least, and with those that may be left out.
const (
	leastFields = 8
	mostFields  = 10
	longestLine = 254 // the plugin's buffer has 256 characters
)

// ParseTuner reads a file of the plugin. What the plugin takes for something else, or skips without
// a word, is refused, with the number of the line.
func ParseTuner(text string) (*Tuner, error) {
	t := &Tuner{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "coll") && i == 0 { // a heading
			continue
		}
		l, err := parseTunerLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		l.Number = i + 1
		t.Lines = append(t.Lines, l)
	}
	return t, nil
}

// parseTunerLine reads a line.
func parseTunerLine(text string) (l TunerLine, err error) {
	fields := strings.Split(text, ",")
	for i := range fields {
		fields[i] = strings.Trim(fields[i], " \t")
	}
	switch {
	case len(text) > longestLine:
		return l, fmt.Errorf("it has %d characters; the plugin reads %d", len(text), longestLine)
	case len(fields) < leastFields || len(fields) > mostFields:
		return l, fmt.Errorf("%d fields; 8 to 10 are expected: collective, bytes from and to, "+
			"algorithm, protocol, channels, nodes, ranks, operations in a group, registered buffers",
			len(fields))
	}
	var names []string
	kind := -1
	for i, f := range functions() {
		if names = append(names, f.name); f.name == fields[0] {
			kind = i
		}
	}
	algorithm := slices.Index(tunerNames(), fields[3])
	words := []string{"ll", "ll128", "simple"}
	protocol := slices.Index(words, fields[4])
	refuse := func(field int, expected string, taken string) error {
		return fmt.Errorf("%.40q: %s is expected; the plugin takes it for %s", fields[field], expected,
			taken)
	}
	switch {
	case kind < 0:
		return l, refuse(0, "one of "+strings.Join(names, ", "), "allreduce")
	case algorithm < 0:
		return l, refuse(3, "one of "+strings.Join(tunerNames(), ", "), "ring")
	case protocol < 0:
		return l, refuse(4, "one of "+strings.Join(words, ", "), "simple")
	}
	l = TunerLine{Kind: functions()[kind].kind, Way: Way{Algorithm(algorithm), Protocol(protocol)},
		PipeOps: AnyTuned, RegBuff: AnyTuned}
	for i, of := range []*uint64{1: &l.From, 2: &l.To} {
		if of == nil {
			continue
		}
		if *of, err = strconv.ParseUint(fields[i], 10, 64); err != nil {
			return l, refuse(i, "a number of bytes", "another number")
		}
	}
	for i, of := range []*int{5: &l.Channels, 6: &l.Nodes, 7: &l.Ranks, 8: &l.PipeOps, 9: &l.RegBuff} {
		if of == nil || i >= len(fields) {
			continue
		}
		n, err := strconv.ParseInt(fields[i], 10, 32)
		if err != nil || n < AnyTuned {
			return l, refuse(i, "a whole number from -1 on", "another number")
		}
		*of = int(n)
	}
	if l.From > l.To {
		return l, fmt.Errorf("%d to %d bytes: no call has so many", l.From, l.To)
	}
	return l, nil
}

// line returns the first line that matches a single call and whose way the library has; nil if
// there is none.
func (t *Tuner) line(kind collective.Kind, bytes int64, nodes, ranks int,
	has func(Way) bool) *TunerLine {
	is := func(field, value int) bool { return field == AnyTuned || field == value }
	for i := range t.Lines {
		l := &t.Lines[i]
		if l.Kind == kind && uint64(bytes) >= l.From && uint64(bytes) <= l.To && is(l.Nodes, nodes) &&
			is(l.Ranks, ranks) && is(l.PipeOps, 1) && is(l.RegBuff, 0) && has(l.Way) {
			return l
		}
	}
	return nil
}

// channels returns how many channels a call may take by a line of the plugin, where the library
// would give it own channels.
func (l *TunerLine) channels(own int) int {
	switch {
	case l == nil || l.Channels == AnyTuned:
		return 1
	case l.Channels == 0:
		return own
	}
	return l.Channels
}

// ends lists where a line of a kind begins or has ended, in elements of so many bytes each.
func (t *Tuner) ends(kind collective.Kind, each int64) (all []int64) {
	if t == nil {
		return nil
	}
	for _, l := range t.Lines {
		for _, end := range []uint64{l.From, l.To} {
			if l.Kind == kind && end < mostBytes {
				all = append(all, up(int64(end), each), up(int64(end)+1, each))
			}
		}
	}
	return all
}
