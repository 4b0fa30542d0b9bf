package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"collsim/kernel"
	"collsim/unit"
)

// Opaque returns a kernel with a time and without any further meaning.
func Opaque(t unit.Time) *kernel.Op { return &kernel.Op{Kind: kernel.Opaque, Time: t} }

// Opaques makes opaque kernels, one for each time. A program with many computations then holds few.
type Opaques struct {
	lock sync.Mutex
	kept map[unit.Time]*kernel.Op
}

// Of returns the opaque kernel of a time.
func (o *Opaques) Of(t unit.Time) *kernel.Op {
	o.lock.Lock()
	defer o.lock.Unlock()
	k := o.kept[t]
	if k == nil {
		if o.kept == nil {
			o.kept = map[unit.Time]*kernel.Op{}
		}
		k = Opaque(t)
		o.kept[t] = k
	}
	return k
}

// OpaqueTime returns the time of an opaque kernel; 0 for every other step.
func (s *Step) OpaqueTime() unit.Time {
	if s.Kernel == nil || s.Kernel.Kind != kernel.Opaque {
		return 0
	}
	return s.Kernel.Time
}

// An Engine is the unit of a rank that executes the steps of a bracket.
type Engine uint8

// The engines of a rank.
const (
	SMs        Engine = iota // streaming multiprocessors, whole or in parts
	CopyEngine               // a copy engine, which takes part in no barrier
	Host                     // a thread of the host
)

var engineNames = [...]string{"sms", "copy", "host"}

// String returns the engine's name in the text form.
func (e Engine) String() string { return engineNames[e] }

// A Launch begins a bracket: the steps of a lane that the host launches at once. The bracket ends
// before the next one of the lane, or at the lane's end. The lane is a stream: a bracket begins
// when the one before it has ended. The host launches the brackets of a rank in the order of their
// parts, rounds and lanes.
type Launch struct {
	Name   string // for pictures; empty means the step's own
	Engine Engine
	// Blocks is the number of blocks that the bracket holds on SMs from its first step to its last.
	// 0 means one; for a kernel, the blocks of its grid, which come and go.
	Blocks int32
	// PerSM bounds the bracket's blocks on an SM at a time; 0 means one.
	PerSM int32
	// Priority of its blocks: free SMs go to the highest priority first.
	Priority int32
	// Whole makes a bracket of all lanes of a part on a rank: one launch. It holds Blocks for each
	// channel, from the first step of its lanes to the last. Part.Launch sets it.
	Whole bool
	// Graph, if not 0, is the CUDA graph that the bracket is a node of. The host launches all of a
	// graph when it reaches the first of its brackets.
	Graph int32
	// Together, if not 0, makes brackets of several parts on a rank one launch of the host, as a
	// group of NCCL's calls is. It belongs to brackets of a whole part.
	Together int32
}

// String formats the launch, such as "launch(sms blocks=4 per_sm=2 name=barrier)".
func (l *Launch) String() string {
	text := "launch(" + l.Engine.String()
	for _, n := range l.numbers() {
		if *n.value != 0 {
			text += fmt.Sprintf(" %s=%d", n.name, *n.value)
		}
	}
	if l.Name != "" {
		text += " name=" + l.Name
	}
	return text + ")"
}

// launchNumber is a numeric field of a launch, with its name in the text and its largest value.
type launchNumber struct {
	name  string
	value *int32
	most  int32
}

// mostTogether bounds the numbers of launches that several brackets share.
const mostTogether = 1 << 24

// numbers lists the numeric fields.
func (l *Launch) numbers() []launchNumber {
	return []launchNumber{{"blocks", &l.Blocks, 1 << 20}, {"per_sm", &l.PerSM, 64},
		{"priority", &l.Priority, 64}, {"graph", &l.Graph, 1 << 20},
		{"together", &l.Together, mostTogether}}
}

// maxWord bounds the bytes of the name of a launch or a part.
const maxWord = 64

// Word makes a text fit to be the name of a launch or a part. It drops what could not be read back.
func Word(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(" ()#=", r) {
			return -1
		}
		return r
	}, text)
	for len(text) > maxWord {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	if slices.Contains(partWords, text) {
		return text + "_"
	}
	return text
}

// validate returns an error that names a value out of range.
func (l *Launch) validate() error {
	for _, n := range l.numbers() {
		if *n.value < 0 || *n.value > n.most {
			return fmt.Errorf("launch: %s=%d: 0 to %d is expected", n.name, *n.value, n.most)
		}
	}
	switch {
	case l.Engine > Host:
		return fmt.Errorf("launch: engine %d is none", l.Engine)
	case l.Engine != SMs && (l.Blocks != 0 || l.PerSM != 0):
		return fmt.Errorf("launch: only sms have blocks, not %v", l.Engine)
	case Word(l.Name) != l.Name:
		return fmt.Errorf("launch: name %q: one word of at most %d bytes is expected", l.Name, maxWord)
	}
	return nil
}

// parseLaunch parses the format of String.
func parseLaunch(text string) (*Launch, error) {
	body, ok := strings.CutPrefix(text, "launch(")
	body, closed := strings.CutSuffix(body, ")")
	words := strings.Fields(body)
	if !ok || !closed || len(words) == 0 {
		return nil, fmt.Errorf("%q: a launch looks like launch(sms blocks=4 name=barrier)", text)
	}
	engine, err := index(engineNames[:], words[0])
	if err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	l := &Launch{Engine: Engine(engine)}
	for _, word := range words[1:] {
		if err := l.read(word); err != nil {
			return nil, err
		}
	}
	return l, l.validate()
}

// read parses a word such as "blocks=4".
func (l *Launch) read(word string) error {
	name, value, _ := strings.Cut(word, "=")
	if name == "name" {
		l.Name = value
		return nil
	}
	for _, n := range l.numbers() {
		if n.name != name {
			continue
		}
		x, err := strconv.ParseInt(value, 10, 32)
		if err != nil || x < 1 {
			return fmt.Errorf("launch: %s=%s: a number from 1 to %d is expected", name, value, n.most)
		}
		*n.value = int32(x)
		return nil
	}
	return fmt.Errorf("launch: %q: blocks=, per_sm=, priority=, graph= and name= are expected", word)
}

// equal reports whether two launches are equal, or both nil.
func (l *Launch) equal(o *Launch) bool { return l == o || l != nil && o != nil && *l == *o }

// equalKernel reports whether two kernels are equal, or both nil.
func equalKernel(a, b *kernel.Op) bool { return a == b || a != nil && b != nil && *a == *b }
