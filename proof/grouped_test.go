package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"collsim/schedule"
)

// grouper writes texts of schedules with groups: collectives that are right, put together by chance
// from rounds that all ranks do alike, in lanes that events order; and then damaged.
type grouper struct {
	*rand.Rand
	group  schedule.Group
	n      int32
	ranked bool // operands are in rank order
	steps  []groupedStep
}

// groupedStep is a step of rank 0.
type groupedStep struct {
	scaled   bool
	ranked   bool
	from, to int32  // peers, −1 for none
	verb     string // without what is received and sent: "", "copy", "reduce"
	source   string // a region
	into     string
}

func (g *grouper) add(s groupedStep) { g.steps = append(g.steps, s) }

func (g *grouper) send(region string, to int32) {
	g.add(groupedStep{from: -1, to: to, source: region})
}

func (g *grouper) recv(from int32, into string) {
	g.add(groupedStep{from: from, to: -1, into: into})
}

func (g *grouper) recvReduce(from int32, into string) {
	g.add(groupedStep{from: from, to: -1, verb: "reduce", source: into, into: into,
		ranked: g.ranked})
}

func (g *grouper) copy(from, into string, scaled bool) {
	g.add(groupedStep{from: -1, to: -1, verb: "copy", source: from, into: into, scaled: scaled})
}

// blocks is a region of a buffer.
func blocks(buffer string, list []int32) string {
	return buffer + "{" + strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",") + "}"
}

// hop is a round: rank 0 sends blocks to a rank, and gets others from the one that is as far.
type hop struct {
	to         int32
	sent, come []int32
}

// spread is rounds after which all ranks have all blocks, where each had its own: none comes twice.
func (g *grouper) spread() (hops []hop) {
	has := []int32{0}
	for len(has) < int(g.n) {
		to := 1 + g.Int32N(g.n-1)
		h := hop{to: to}
		for _, i := range g.Perm(len(has)) {
			come := g.group.Sub(has[i], to)
			if !slices.Contains(has, come) && !slices.Contains(h.come, come) &&
				(len(h.come) == 0 || g.IntN(4) > 0) {
				h.sent, h.come = append(h.sent, has[i]), append(h.come, come)
			}
		}
		if h.come != nil {
			has = append(has, h.come...)
			hops = append(hops, h)
		}
	}
	return hops
}

func (g *grouper) back(rank int32) int32 { return g.group.Sub(0, rank) }

func (g *grouper) allGather(buffer string) {
	for _, h := range g.spread() {
		g.send(blocks(buffer, h.sent), h.to)
		g.recv(g.back(h.to), blocks(buffer, h.come))
	}
}

// reduceScatter is an all-gather backwards: block 0 of the buffer is the sum.
func (g *grouper) reduceScatter(buffer string) {
	hops := g.spread()
	slices.Reverse(hops)
	for _, h := range hops {
		g.send(blocks(buffer, h.come), g.back(h.to))
		g.recvReduce(h.to, blocks(buffer, h.sent))
	}
}

// allReduceWhole adds up the whole vector digit by digit.
func (g *grouper) allReduceWhole() {
	for _, i := range g.Perm(len(g.group)) {
		weight := int32(1)
		for _, d := range g.group[i+1:] {
			weight *= d
		}
		if d := g.group[i]; d&(d-1) == 0 && g.IntN(2) == 0 { // the sums double
			for k := int32(1); k < d; k *= 2 {
				g.send("out", k*weight)
				g.recvReduce(g.back(k*weight), "out")
			}
			continue
		}
		far := g.Perm(int(g.group[i]) - 1)
		for _, k := range far {
			g.send("out", int32(k+1)*weight)
		}
		if g.IntN(2) == 0 {
			slices.Reverse(far)
		}
		for _, k := range far {
			g.recvReduce(int32(k+1)*weight, "out")
		}
	}
}

// allToAll sends every block straight, or by way of another rank.
func (g *grouper) allToAll() (scratch int) {
	for _, i := range g.Perm(int(g.n) - 1) {
		to, by := int32(i)+1, g.Int32N(g.n)
		if g.IntN(2) == 0 {
			by = 0
		}
		rest := g.group.Sub(to, by)
		if by == 0 || rest == 0 {
			g.send(blocks("in", []int32{to}), to)
			g.recv(g.back(to), blocks("out", []int32{g.back(to)}))
			continue
		}
		own := blocks("scratch", []int32{int32(scratch)})
		scratch++
		g.send(blocks("in", []int32{to}), by)
		g.recv(g.back(by), own)
		g.send(own, rest)
		g.recv(g.back(rest), blocks("out", []int32{g.back(to)}))
	}
	return scratch
}

func (g *grouper) barrier() {
	has := map[int32]bool{0: true}
	for len(has) < int(g.n) {
		to := 1 + g.Int32N(g.n-1)
		g.send("", to)
		g.recv(g.back(to), "")
		for rank := range g.n {
			if has[rank] && g.IntN(9) > 0 { // now and then too little is heard
				has[g.group.Sub(rank, to)] = true
			}
		}
	}
}

// fuse makes one step of a receive and the send of what has come.
func (g *grouper) fuse() {
	for i := 0; i+1 < len(g.steps); i++ {
		a, b := &g.steps[i], g.steps[i+1]
		if a.from >= 0 && a.to < 0 && a.into != "" && b.from < 0 && b.to >= 0 && b.verb == "" &&
			b.source == a.into && g.IntN(2) == 0 {
			a.to = b.to
			g.steps = slices.Delete(g.steps, i+1, i+2)
		}
	}
}

// damage changes a step of all ranks alike.
func (g *grouper) damage() {
	at := g.IntN(len(g.steps))
	s := &g.steps[at]
	switch g.IntN(8) {
	case 0:
		g.steps = slices.Delete(g.steps, at, at+1)
	case 1:
		other := g.IntN(len(g.steps))
		g.steps[at], g.steps[other] = g.steps[other], g.steps[at]
	case 2:
		g.steps = slices.Insert(g.steps, at, *s)
	case 3:
		if s.from >= 0 {
			s.from = g.Int32N(g.n)
		}
	case 4:
		if s.to >= 0 {
			s.to = g.Int32N(g.n)
		}
	case 5:
		s.source = g.other(s.source)
	case 6:
		s.into = g.other(s.into)
	case 7:
		s.ranked = s.verb == "reduce" && !s.ranked
	}
}

// other is a region like another.
func (g *grouper) other(region string) string {
	buffer, list, isList := strings.Cut(region, "{")
	switch {
	case region == "":
		return ""
	case strings.Contains(region, "[") && g.IntN(4) > 0:
		return g.elsewhere(region)
	case !isList || g.IntN(5) == 0:
		return []string{"in", "out"}[g.IntN(2)] + strings.TrimPrefix(region, buffer)
	}
	count := strings.Count(list, ",") + 1
	some := []int32{}
	for range count {
		some = append(some, g.Int32N(g.n))
	}
	return blocks(buffer, some)
}

// line is a step as text, in a lane of several that do alike.
func (s *groupedStep) line(lanes int) string {
	from, to := fmt.Sprint(s.from), fmt.Sprint(s.to)
	if lanes > 1 {
		from, to = from+"/%[1]d", to+"/%[1]d"
	}
	verb, sources := "", []string{}
	if s.from >= 0 {
		verb, sources = "recv", append(sources, "from "+from)
	}
	if s.source != "" {
		sources = append(sources, s.source)
	}
	if s.verb == "reduce" {
		verb += "Reduce"
	}
	if s.verb == "copy" || s.into != "" && s.to >= 0 {
		verb += "Copy"
	}
	if s.to >= 0 {
		verb += "Send"
	}
	switch {
	case verb == "Send" && s.source == "":
		verb = "signal"
	case verb == "recv" && s.into == "":
		verb = "wait"
	}
	if verb == "" {
		verb = "nop"
	}
	text := strings.ToLower(verb[:1]) + verb[1:]
	if s.scaled && len(sources) > 0 {
		sources[0] = "scaled " + sources[0]
	}
	if len(sources) > 0 {
		text += " " + strings.Join(sources, ", ")
	}
	if s.into != "" {
		text += " into " + s.into
	}
	if s.to >= 0 {
		text += " to " + to
	}
	return text
}

// groups are so small that the judge takes them.
func someGroup(rng *rand.Rand) schedule.Group {
	all := []schedule.Group{{2}, {3}, {4}, {5}, {6}, {7}, {8}, {2, 2}, {2, 3}, {3, 2}, {1, 4}, {4, 1},
		{2, 2, 2}, {3, 3}, {2, 4}, {4, 2}, {2, 1, 3}}
	return all[rng.IntN(len(all))]
}

// groupedText is a schedule with a group, perhaps damaged.
func groupedText(rng *rand.Rand) string {
	group := someGroup(rng)
	g := &grouper{Rand: rng, group: group, n: int32(group.Order()),
		ranked: rng.IntN(2) == 0}
	n, count, scratch := int(g.n), 1+rng.IntN(3), 0
	op, rankCut := "float32 sum", fmt.Sprintf("block even %d by rank", g.n)
	var in, out, pad, kind string
	channels, slices := 1+rng.IntN(2)*rng.IntN(2), 1+rng.IntN(2)*rng.IntN(2)
	count *= channels * slices
	scaled := rng.IntN(4) == 0
	if scaled {
		op = "float32 avg"
	}
	inPlace := ""
	what := rng.IntN(9)
	if what >= 7 && (n < 4 || n != 1<<len(group)) { // no bits
		what = 2
	}
	switch what {
	case 0:
		kind, op, out = "all_gather", "float32", rankCut
		if rng.IntN(2) == 0 {
			inPlace = " in place"
		} else {
			g.copy("in", blocks("out", []int32{0}), false)
		}
		g.allGather("out")
	case 1:
		kind, in, pad, scratch = "reduce_scatter", rankCut, rankCut, n*count
		g.copy("in"+fmt.Sprintf("[0 x%d]", n), "scratch"+fmt.Sprintf("[0 x%d]", n), scaled)
		g.reduceScatter("scratch")
		g.copy(blocks("scratch", []int32{0}), "out", false)
	case 2:
		kind, in, out, count = "all_reduce", rankCut, rankCut, n*count
		all := fmt.Sprintf("[0 x%d]", n)
		if rng.IntN(2) == 0 && !scaled {
			inPlace = " in place"
		} else {
			g.copy("in"+all, "out"+all, scaled)
		}
		g.reduceScatter("out")
		g.allGather("out")
	case 3:
		kind = "all_reduce"
		g.copy("in", "out", scaled)
		g.allReduceWhole()
	case 4:
		kind, op, in, out = "all_to_all", "float32", rankCut, rankCut
		g.copy(blocks("in", []int32{0}), blocks("out", []int32{0}), false)
		if scratch = g.allToAll(); scratch > 0 {
			pad = fmt.Sprintf("block even %d", scratch)
		}
		scratch *= count
	case 5:
		kind, op, channels, slices = "barrier", "", 1, 1
		g.barrier()
	case 6:
		kind, op = "send_recv", "float32"
		g.send("in", 1%g.n)
		g.recv(g.n-1, "out")
	case 7, 8:
		mirrored := rng.IntN(2) == 0
		if mirrored {
			rankCut = strings.Replace(rankCut, "by rank", "by mirrored rank", 1)
		}
		kind, in, out, count = "all_reduce", rankCut, rankCut, n*count
		g.copy(g.run("in", 0, g.n), g.run("out", 0, g.n), scaled)
		g.allReduceRuns(mirrored)
	}
	g.fuse()
	for range rng.IntN(3) * rng.IntN(2) {
		if len(g.steps) > 1 {
			g.damage()
		}
	}
	if rng.IntN(12) == 0 && kind != "barrier" { // blocks that are not of one size
		count++
	}
	return g.text(header{kind + " " + op + inPlace, count, channels, slices, scratch,
		[3]string{in, out, pad}})
}
