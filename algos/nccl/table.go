package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/algos"
	"collsim/collective"
	"collsim/schedule"
)

// Prefix begins the names of the table's algorithms.
const Prefix = "nccl:"

// The names of parameters, and the value that leaves one to the library.
const (
	protocolParam = "protocol"
	machineParam  = "machine"
	channelsParam = "nchannels"
	perNodeParam  = "per_node"
	nvlsParam     = "nvls"
	collNetParam  = "collnet"
	piecesParam   = "pieces"
	envParam      = "env"
	versionParam  = "version"
	tunerParam    = "tuner"
	emptyParam    = "empty"
	untuned       = "none"
	found         = "auto"
)

// Table lists NCCL's algorithms by kind, with "nccl:auto", which is what it chooses by itself.
func Table() (all []algos.Algorithm) {
	for _, kind := range collective.Kinds() {
		for _, a := range []struct {
			name, about, when, source string
			among                     []Algorithm
		}{
			{"auto", "what NCCL chooses by itself",
				"as NCCL where nobody tells it how", "graph/tuning.cc",
				[]Algorithm{Tree, Ring, NVLS, NVLSTree, PAT, CollNetDirect, CollNetChain}},
			{"tree", "sums go up a tree and come down: a chain in each node, two binary trees between",
				"as NCCL where NCCL_ALGO is tree: several nodes, short vectors",
				"device/all_reduce.h, graph/trees.cc", []Algorithm{Tree}},
			{"ring", "rings side by side, or chains from or to a root, chunk by chunk",
				"as NCCL where NCCL_ALGO is ring", "device/" + kind.String() + ".h", []Algorithm{Ring}},
			{"nvls", "each GPU of a node has the switch add up a slice of all, and copy it to all",
				"as NCCL where NCCL_ALGO is nvls: one node whose switch multicasts, long vectors",
				"device/" + kind.String() + ".h, transport/nvls.cc", []Algorithm{NVLS}},
			{"nvlstree", "the switch of each node adds up and copies, two binary trees join the nodes",
				"as NCCL where NCCL_ALGO is nvlstree: several such nodes, long vectors",
				"device/all_reduce.h, graph/connect.cc", []Algorithm{NVLSTree}},
			{"pat", "blocks go by hops of powers of two, several trees' together in a message",
				"as NCCL where NCCL_ALGO is pat: one rank a node, short blocks",
				"include/collectives.h", []Algorithm{PAT}},
			{"collnet-direct", "GPUs send chunks to those near NICs, the network adds up and multicasts " +
				"what these have, and they send it on", "as NCCL where NCCL_COLLNET_ENABLE is 1 and " +
				"NCCL_ALGO collnetdirect: NVSwitches in nodes, a network that adds (SHARP)",
				"device/all_reduce.h, graph/connect.cc", []Algorithm{CollNetDirect}},
			{"collnet-chain", "sums go along the GPUs of a node, the network adds up and multicasts them, " +
				"and they go back", "as NCCL where NCCL_COLLNET_ENABLE is 1 and NCCL_ALGO collnetchain: a " +
				"network that adds (SHARP)", "device/all_reduce.h, graph/connect.cc",
				[]Algorithm{CollNetChain}},
		} {
			among := slices.DeleteFunc(slices.Clone(a.among), func(x Algorithm) bool {
				return !Way{x, Simple}.legal(kind)
			})
			if len(among) > 0 {
				all = append(all, withChoice(algos.Algorithm{Name: a.name, About: a.about,
					When: a.when, Kinds: []collective.Kind{kind},
					Source: "NCCL 2.30.7 " + a.source}, among...))
			}
		}
	}
	return append(all, p2pRow(collective.AllToAll, collective.Gather, collective.Scatter,
		collective.SendRecv), p2pRow(collective.AllToAllV))
}

// p2pRow returns the row of kinds that are groups of sends and receives.
func p2pRow(kinds ...collective.Kind) algos.Algorithm {
	a := algos.Algorithm{Name: "p2p", About: "sends and receives, round by round, in parts on " +
		"channels of their own", When: "as NCCL: it has no choice there", Grouped: true,
		Kinds: kinds, Source: "NCCL 2.30.7 enqueue.cc, device/sendrecv.h"}
	if slices.Contains(kinds, collective.AllToAllV) {
		a.Params = []algos.Param{{Name: emptyParam, Value: "send", About: "what becomes of blocks " +
			"without elements: send, as NCCL does with every send of a group, or skip, as torch does, " +
			"which calls ncclSend for the others alone"}}
	}
	of := func(spec collective.Spec, param func(string) string) (*p2p, error) {
		s, err := settingOf(judged(spec, param), param, nil)
		if err != nil {
			return nil, err
		}
		switch text := param(emptyParam); text {
		case "", "send":
		case "skip":
			s.SkipEmpty = true
		default:
			return nil, fmt.Errorf("empty=%.40s: send or skip is expected", text)
		}
		return p2pOf(judged(spec, param), s)
	}
	a.Plan = func(p *schedule.Plan, param func(string) string) error {
		x, err := of(p.Spec, param)
		if err == nil && p.Spec.Ranks > 1 {
			x.lay(p)
		}
		return err
	}
	a.Picks = func(spec collective.Spec, param func(string) string) algos.Pick {
		x, err := of(spec, param)
		if err != nil || spec.Ranks == 1 || spec.Empty() {
			return algos.Pick{}
		}
		return algos.Pick{What: x.String(), Protocol: x.within().String(), Channels: x.summary().most,
			Threads: mostThreads}
	}
	return named(a)
}

// judged returns a collective on one rank as if there were two, or a node full.
func judged(spec collective.Spec, param func(string) string) collective.Spec {
	if spec.Ranks == 1 {
		perNode, _ := strconv.Atoi(param(perNodeParam))
		spec.Ranks = max(perNode, 2)
	}
	return spec
}

// withChoice completes an entry of the table that leaves the choice among some of NCCL's algorithms
// to NCCL's tuner. It adds their parameters, and the plan and the picks of that choice.
func withChoice(a algos.Algorithm, among ...Algorithm) algos.Algorithm {
	if slices.ContainsFunc(among, Algorithm.usesSwitch) {
		a.Params = append(a.Params, algos.Param{Name: nvlsParam, Value: algos.AsSwitch,
			About: "whether there is NVLS, true or false, as NCCL_NVLS_ENABLE says; switch is where the " +
				"switch of a node multicasts and reduces (topology.node.multimem)"})
	}
	aggregates := func(x Algorithm) bool { return x == NVLS || x.isCollNet() }
	if a.Kinds[0] == collective.AllReduce && slices.ContainsFunc(among, aggregates) {
		a.Params = append(a.Params, algos.Param{Name: collNetParam, Value: algos.AsNetwork,
			About: "whether there is a plugin for CollNet, true or false; network is where the switches " +
				"between nodes multicast and reduce (topology.network.multimem)"})
	}
	if slices.ContainsFunc(among, func(x Algorithm) bool { return x == Tree || x == Ring }) {
		a.Params = append(a.Params, algos.Param{Name: protocolParam, Value: found,
			About: "ll, ll128 or simple; auto is what NCCL chooses"},
			algos.Param{Name: piecesParam, Value: strconv.Itoa(mostPieces), About: "parts of a slice, " +
				"1 to 64, that LL and LL128 hand on as they come where ranks form a chain or a tree"})
	}
	a.Params = append(a.Params, algos.Param{Name: tunerParam, Value: algos.AsTuner, About: "none " +
		"leaves out what a tuner plugin is told; file is the file that nccl.tuner names, if it does"})
	a = named(a)
	a.Ordered = slices.ContainsFunc(among, func(x Algorithm) bool {
		return x == Tree || x == Ring || x == CollNetChain
	})
	a.Plan = func(p *schedule.Plan, param func(string) string) error {
		spec := judged(p.Spec, param)
		s, err := settingOf(spec, param, among)
		if err != nil {
			return err
		}
		if p.Spec.Ranks == 1 && (among[0].usesSwitch() || among[0].isCollNet()) {
			// One rank sends nothing, but is refused where two could not use the switch.
			_, err := s.model(&spec)
			p.Lane = func(*schedule.Lane) {}
			return err
		}
		s.Rings, p.Orders = p.Orders, nil // lanes are written in ranks
		c, err := Choose(spec, s)
		if err != nil {
			return err
		}
		c.lay(p)
		return nil
	}
	a.Picks = func(spec collective.Spec, param func(string) string) algos.Pick {
		s, err := settingOf(spec, param, among)
		if err != nil || spec.Ranks == 1 || spec.Empty() {
			return algos.Pick{}
		}
		c, err := Choose(spec, s)
		if err != nil {
			return algos.Pick{}
		}
		return c.pick()
	}
	return a
}

// named has the name of one of NCCL's, and the parameters that all have.
func named(a algos.Algorithm) algos.Algorithm {
	a.Name = Prefix + a.Name
	var names []string
	for _, m := range Machines() {
		names = append(names, m.Name+" ("+m.About+")")
	}
	a.Params = append(a.Params,
		algos.Param{Name: channelsParam, Value: found, About: "the communicator's channels, 1 to 64, " +
			"as NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS set them; a call takes as many of them as its " +
			"size is worth; auto is what NCCL finds on the machine"},
		algos.Param{Name: machineParam, Value: algos.AsMachine, About: "whose rings and speeds NCCL " +
			"has found: " + strings.Join(names, "; ") + "; device is as the scenario's device, nodes and " +
			"NICs are, or " + Machines()[0].Name + " where nobody says"},
		algos.Param{Name: envParam, Value: algos.AsEnvironment, About: "variables that NCCL reads, as " +
			"NCCL_ALGO=ring; scenario is as [nccl] env has them"},
		algos.Param{Name: versionParam, Value: algos.AsVersion, About: "of NCCL, whose figures and " +
			"rules it chooses by, " + versions[len(versions)-1].name + " to " + newest + "; newest is as " +
			"nccl.version has it, or the last of them"},
		algos.Param{Name: perNodeParam, Value: "node", About: "ranks of a node, a divisor of the " +
			"ranks; node is as the topology has it, else all"})
	return a
}

// settingOf reads parameters, of point to point without ways to choose from.
func settingOf(spec collective.Spec, param func(string) string, among []Algorithm) (s Setting,
	err error) {
	s.Machine, s.Version = param(machineParam), param(versionParam)
	if s.Env, err = ParseEnv(param(envParam)); err != nil {
		return s, err
	}
	switch text := param(nvlsParam); text {
	case "", "true", algos.AsSwitch: // of networks nobody has said anything
	case "false":
		s.NoMulticast = true
	default:
		return s, fmt.Errorf("nvls=%s: true, false or %s is expected", text, algos.AsSwitch)
	}
	switch text := param(collNetParam); text {
	case "", "true", algos.AsNetwork: // likewise
	case "false":
		s.NoAggregation = true
	default:
		return s, fmt.Errorf("collnet=%s: true, false or %s is expected", text, algos.AsNetwork)
	}
	if text := param(channelsParam); text != found {
		if s.Channels, err = strconv.Atoi(text); err != nil || s.Channels < 1 {
			return s, fmt.Errorf("nchannels=%s: 1 to %d, or auto, is expected", text, MaxChannels)
		}
	}
	if text := param(perNodeParam); text != "node" {
		if s.PerNode, err = strconv.Atoi(text); err != nil || s.PerNode < 1 {
			return s, fmt.Errorf("per_node=%s: a divisor of the %d ranks, or node, is expected", text,
				spec.Ranks)
		}
	}
	if among == nil {
		return s, nil
	}
	if s.Tuner, err = tunerOf(param(tunerParam)); err != nil {
		return s, err
	}
	if text := param(piecesParam); text != "" {
		if s.Pieces, err = strconv.Atoi(text); err != nil || s.Pieces < 1 || s.Pieces > 64 {
			return s, fmt.Errorf("pieces=%s: 1 to 64 is expected", text)
		}
	}
	asked := strings.ToLower(param(protocolParam))
	for _, a := range among {
		for p := range protocols {
			named := asked == "" || asked == found || strings.EqualFold(asked, p.String())
			if w := (Way{a, p}); named && w.legal(spec.Kind) {
				s.Among = append(s.Among, w)
			}
		}
	}
	if s.Among == nil {
		return s, fmt.Errorf("protocol=%s: one of ll, ll128, simple, auto is expected", asked)
	}
	return s, nil
}

// tunerOf reads the lines of a tuner's file, nil where there is none.
func tunerOf(text string) (*Tuner, error) {
	switch {
	case text == "" || text == untuned:
		return nil, nil
	case !strings.Contains(text, "\n"):
		return nil, fmt.Errorf("tuner=%.40s: none or file is expected", text)
	}
	return ParseTuner(text)
}

// lay completes the plan of a call.
func (c *Choice) lay(p *schedule.Plan) {
	spec := p.Spec
	p.Name += fmt.Sprintf("(%v, %d of %d channels)", c.Way, c.Used, c.all)
	p.Lane = func(*schedule.Lane) {}
	if spec.Ranks == 1 || spec.Empty() {
		return
	}
	if c.model.overNetwork(c.Algorithm) {
		c.layAggregate(p)
		return
	}
	x := c.piecesOf(&spec)
	p.Channels, p.Protocol = len(x.loops), c.protocol()
	if p.Slots == 0 {
		_, slice := c.steps(spec.Kind)
		p.Slots = slots / int(slice)
		if c.handsLines(spec.Kind) { // they share the slot of their slice
			p.Slots *= c.pieces
		}
	}
	switch c.Algorithm {
	case Tree:
		p.Lanes, p.Lane, p.Roles = 2, (&climb{c, x}).lane, c.roles(p.Channels)
	case NVLS, NVLSTree:
		c.layMultimem(p, x)
		return
	case PAT:
		p.Lane = (&pat{c, x, spec, c.parts(&spec)}).lane
		if spec.Kind == collective.ReduceScatter {
			p.Scratch = spec.Ranks
		}
	default:
		p.Lane = (&around{c, x, spec}).lane
		p.Even = !spec.Kind.Rooted()
		p.Timing = c.translations(&spec, x)
		if !spec.Kind.Rooted() {
			p.Places = c.places(&spec, x)
		}
	}
	lane := p.Lane
	p.Lane = func(l *schedule.Lane) {
		l.Frame(c.Protocol.framing())
		lane(l)
	}
	if translated := c.rings == nil && (c.model.nodes == 1 || c.model.perNode == 1); translated &&
		byBlocks(&spec) {
		p.Group, p.Even, p.Places = schedule.Rotations(spec.Ranks), false, nil
	}
	p.Cuts = cuts(&spec, x.ends, p.Group != nil)
}
