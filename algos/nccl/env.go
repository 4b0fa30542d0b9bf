package nccl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
)

// Env holds the settings of NCCL's environment variables that change its choice or its channels.
type Env struct {
	text string // as String has it
	// listed says that a list names functions, which releases before 2.24 cannot read.
	listed string
	// Off are ways that NCCL_ALGO, NCCL_PROTO and NCCL_PAT_ENABLE take away, by kind of collective,
	// and notListed those that NCCL_ALGO alone does; lines says that NCCL_PROTO asks for LL128,
	// whatever the links are.
	off, notListed map[collective.Kind]map[Way]string
	lines          map[collective.Kind]bool
	// min and max bound the channels of a communicator, nvls is how many there are of NVLS; 0 leaves
	// them to the library.
	min, max, nvls int
	// collNet is unset, disabled or enabled; collNetNodes is how many nodes it is for at least, 0 as
	// the library has it.
	collNet, collNetNodes int
	noNVLS, allPAT        bool
	sizes
	// pxn and cross say by which NIC messages leave a node: NCCL_P2P_PXN_LEVEL, 0 without PXN, and
	// NCCL_CROSS_NIC.
	pxn, cross int
	noPXN      bool
}

// The library's own levels of PXN and of CROSS_NIC (graph/search.cc).
const (
	ownPXN   = 2
	ownCross = 2
)

// variable is one that ParseEnv knows.
type variable struct {
	name, about string
	set         func(e *Env, value string) error
}

// variables lists the variables that change the choice, the cuts, or the NICs by which messages
// leave a node.
func variables() []variable { return slices.Concat(choosing(), ofCollNet(), sizing(), leaving()) }

// choosing lists the variables that change what is chosen.
func choosing() []variable {
	whole := func(of func(*Env) *int, also func(old, new int) int) func(*Env, string) error {
		return func(e *Env, s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 || n > MaxChannels {
				return fmt.Errorf("1 to %d is expected", MaxChannels)
			}
			if *of(e) > 0 {
				n = also(*of(e), n)
			}
			*of(e) = n
			return nil
		}
	}
	larger := func(a, b int) int { return max(a, b) }
	smaller := func(a, b int) int { return min(a, b) }
	least := whole(func(e *Env) *int { return &e.min }, larger)
	most := whole(func(e *Env) *int { return &e.max }, smaller)
	return []variable{
		{"NCCL_ALGO", "lists of algorithms", func(e *Env, s string) error {
			return e.algorithms(s)
		}},
		{"NCCL_PROTO", "lists of protocols", func(e *Env, s string) error { return e.protocols(s) }},
		{"NCCL_MIN_NCHANNELS", "channels at least", least},
		{"NCCL_MAX_NCHANNELS", "channels at most", most},
		{"NCCL_MIN_CTAS", "the same", least},
		{"NCCL_MAX_CTAS", "the same", most},
		{"NCCL_NVLS_NCHANNELS", "channels of NVLS",
			whole(func(e *Env) *int { return &e.nvls }, larger)},
		{"NCCL_NVLS_ENABLE", "0: no NVLS", func(e *Env, s string) error {
			if !slices.Contains([]string{"0", "1", "2"}, s) {
				return fmt.Errorf("0, 1 or 2 is expected")
			}
			e.noNVLS = s == "0"
			return nil
		}},
		{"NCCL_PAT_ENABLE", "0: no PAT; 1: PAT whatever the nodes are", func(e *Env, s string) error {
			if !slices.Contains([]string{"0", "1", "2"}, s) {
				return fmt.Errorf("0, 1 or 2 is expected")
			}
			e.allPAT = s == "1"
			for _, f := range functions() {
				if s == "0" {
					e.take(f.kind, Way{PAT, Simple}, "NCCL_PAT_ENABLE=0")
				}
			}
			return nil
		}},
	}
}

// Variables lists the names of variables that ParseEnv knows, and what they say.
func Variables() (names, about []string) {
	for _, v := range variables() {
		names, about = append(names, v.name), append(about, v.about)
	}
	return names, about
}

// ParseEnv reads variables as a shell has them: "NCCL_ALGO=ring NCCL_PROTO=^ll128". One that is
// given twice has its last value. What is not known here is refused.
func ParseEnv(text string) (*Env, error) {
	e := &Env{off: map[collective.Kind]map[Way]string{}, lines: map[collective.Kind]bool{},
		notListed: map[collective.Kind]map[Way]string{},
		pxn:       ownPXN, cross: ownCross}
	values := map[string]string{}
	for _, field := range strings.Fields(text) {
		name, value, ok := strings.Cut(field, "=")
		if !ok || value == "" {
			return nil, fmt.Errorf("%.60q: a variable and its value are expected, as NCCL_ALGO=ring", field)
		}
		if !slices.ContainsFunc(variables(), func(v variable) bool { return v.name == name }) {
			return nil, fmt.Errorf("%.60s %s", name, unknown(name))
		}
		values[name] = value
	}
	var said []string
	for _, v := range variables() {
		value, ok := values[v.name]
		if !ok {
			continue
		}
		if err := v.set(e, value); err != nil {
			return nil, fmt.Errorf("%s=%.60s: %w", v.name, value, err)
		}
		said = append(said, v.name+"="+value)
	}
	e.text = strings.Join(said, " ")
	return e, nil
}

// String lists the variables, in one order.
func (e *Env) String() string { return e.text }

// function is a collective as NCCL's lists name it.
type function struct {
	name string
	kind collective.Kind
}

func functions() []function {
	return []function{{"broadcast", collective.Broadcast}, {"reduce", collective.Reduce},
		{"allgather", collective.AllGather}, {"reducescatter", collective.ReduceScatter},
		{"allreduce", collective.AllReduce}}
}

// lists reads a list of elements for all functions, and lists for single ones, which begin with the
// name of the function and a colon: "ring,tree;allreduce:^tree". A ^ leaves all but these. Later
// ones replace earlier ones (graph/tuning.cc, parseList). Case does not matter.
func lists(text string, elements []string, set func(kind collective.Kind, on []bool)) error {
	for i, part := range strings.Split(text, ";") {
		prefix, list, named := strings.Cut(part, ":")
		if !named {
			prefix, list = "", part
		}
		if !named && i > 0 {
			return fmt.Errorf("%.40q: of several lists all but the first begin with a function, as "+
				"allreduce:ring", part)
		}
		list, but := strings.CutPrefix(list, "^")
		on := make([]bool, len(elements))
		for j := range on {
			on[j] = but
		}
		for _, name := range strings.Split(list, ",") {
			at := slices.IndexFunc(elements, func(e string) bool { return strings.EqualFold(e, name) })
			if at < 0 {
				return fmt.Errorf("%.40q: one of %s is expected", name, strings.Join(elements, ", "))
			}
			on[at] = !but
		}
		found := false
		for _, f := range functions() {
			if !named || strings.EqualFold(prefix, f.name) {
				found = true
				set(f.kind, on)
			}
		}
		if !found && !strings.EqualFold(prefix, "allgatherv") {
			return fmt.Errorf("%.40q: allreduce, allgather, reducescatter, broadcast or reduce is "+
				"expected", prefix)
		}
	}
	return nil
}

// note keeps a list that names functions.
func (e *Env) note(name, text string) {
	if strings.ContainsAny(text, ":;") {
		e.listed = name + "=" + text
	}
}

// fits refuses lists that a release reads otherwise: before 2.24 there is one for all collectives.
func (e *Env) fits(r *release) error {
	if e != nil && e.listed != "" && !r.listsByFunction {
		return fmt.Errorf("%.60s: NCCL %s reads one list for all collectives; since 2.24 each may have "+
			"its own", e.listed, r.name)
	}
	return nil
}

// Check refuses a version, as Setting.Version has it, and lists that it reads otherwise.
func (e *Env) Check(version string) error {
	r, err := releaseOf(version)
	if err != nil {
		return err
	}
	return e.fits(r)
}

// take has the library never take a way.
func (e *Env) take(kind collective.Kind, w Way, why string) { put(e.off, kind, w, why) }

func put(off map[collective.Kind]map[Way]string, kind collective.Kind, w Way, why string) {
	if off[kind] == nil {
		off[kind] = map[Way]string{}
	}
	off[kind][w] = why
}

// algorithms reads NCCL_ALGO.
func (e *Env) algorithms(text string) error {
	e.note("NCCL_ALGO", text)
	var names []string
	for a := range algorithms {
		names = append(names, a.String())
	}
	last := map[collective.Kind][]bool{}
	err := lists(text, names, func(kind collective.Kind, on []bool) { last[kind] = on })
	for _, f := range functions() {
		for a := range algorithms {
			for p := range protocols {
				if on := last[f.kind]; on != nil && !on[a] {
					put(e.notListed, f.kind, Way{a, p}, "NCCL_ALGO="+text)
				}
			}
		}
	}
	return err
}

// protocols reads NCCL_PROTO. A list that does not leave out LL128 asks for it, on all links.
func (e *Env) protocols(text string) error {
	e.note("NCCL_PROTO", text)
	var names []string
	for p := range protocols {
		names = append(names, p.String())
	}
	last := map[collective.Kind][]bool{}
	err := lists(text, names, func(kind collective.Kind, on []bool) { last[kind] = on })
	for _, f := range functions() {
		on := last[f.kind]
		if on == nil {
			continue
		}
		e.lines[f.kind] = on[LL128]
		for a := range algorithms {
			for p := range protocols {
				if !on[p] {
					e.take(f.kind, Way{a, p}, "NCCL_PROTO="+text)
				}
			}
		}
	}
	return err
}

// takes says which variable takes a way away; "" if none does.
func (e *Env) takes(kind collective.Kind, w Way) string {
	if e == nil {
		return ""
	}
	return cmp.Or(e.off[kind][w], e.notListed[kind][w])
}

// withRings returns the settings without what NCCL_ALGO takes away of a kind's rings.
func (e *Env) withRings(kind collective.Kind) *Env {
	but := *e
	but.notListed = maps.Clone(e.notListed)
	but.notListed[kind] = maps.Clone(e.notListed[kind])
	for p := range protocols {
		delete(but.notListed[kind], Way{Ring, p})
	}
	return &but
}

// asksLines reports whether LL128 is asked for.
func (e *Env) asksLines(kind collective.Kind) bool { return e != nil && e.lines[kind] }

// channels bounds those of a communicator.
func (e *Env) channels(n int) int {
	if e == nil {
		return n
	}
	if e.max > 0 {
		n = min(n, e.max)
	}
	return max(n, e.min)
}
