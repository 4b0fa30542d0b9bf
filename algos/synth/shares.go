package synth

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"strconv"

	"collsim/symmetry"
	"collsim/unit"
)

// Shares say how an all_reduce uses a network best: which part of the vector each rank adds up, and
// which part of each link carries sums up to these ranks; results go down by the rest.
//
// A rank v is the root of x(v) bytes a second. They are spread over links that carry d bytes a
// second if, from all roots together, all bytes can flow to every rank (Edmonds 1973), and what
// switches receive is what they send (ForestColl, appendix on all-reduce): for every set S of
// nodes that some rank is outside of
//
//	x(S) ≤ d(links out of S)
//
// They are added up over links that carry u if the same holds for these, turned round. With d + u
// at most the rates of links, the largest sum of x is a linear program.
type shares struct {
	total    *big.Rat   // bytes a second of all roots together
	of       []*big.Rat // by rank
	down, up *network   // up is turned round
}

// mostVariables bounds the linear program for shares: the exact numbers of larger ones grow.
const mostVariables = 150

// shares returns the best shares; nil if the network is too large or too irregular to find them.
//
// Ranks that look alike get like shares, and so do links. If there is a link back for every link,
// the way up is taken to be the way down turned round. Neither loses anything where nodes that look
// alike are so: then the mean of the solutions that differ by an exchange of these is one, too.
func (n *network) shares() (*shares, error) {
	p := newSharing(n, n.nodeColours(), n.isReversible())
	if p.variables > mostVariables || p.sum > fastest {
		return nil, nil
	}
	s, err := p.solve()
	if errors.Is(err, errTooLong) {
		return nil, nil
	}
	return s, err
}

// nodeColours numbers nodes such that those with one number have links of the same rates, as many
// of each, to and from nodes of the same numbers (colour refinement).
func (n *network) nodeColours() []int32 {
	colours := make([]int32, n.nodes)
	for v := n.ranks; v < n.nodes; v++ {
		colours[v] = 1
	}
	for count := 0; ; {
		seen := make([][]string, n.nodes)
		for _, l := range n.links {
			rate := strconv.FormatInt(int64(l.rate), 36)
			seen[l.from] = append(seen[l.from], "to "+rate+" "+strconv.Itoa(int(colours[l.to])))
			seen[l.to] = append(seen[l.to], "by "+rate+" "+strconv.Itoa(int(colours[l.from])))
		}
		numbers := symmetry.Colours[string]{}
		next := make([]int32, n.nodes)
		for v, list := range seen {
			slices.Sort(list)
			text := []byte(strconv.Itoa(int(colours[v])))
			for _, s := range list {
				text = append(append(text, ','), s...)
			}
			next[v], _ = symmetry.NumberText(numbers, text)
		}
		if len(numbers) == count {
			return next
		}
		colours, count = next, len(numbers)
	}
}

// isReversible reports whether the network with all links turned round is the same.
func (n *network) isReversible() bool {
	order := func(a, b link) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.rate, b.rate))
	}
	links, back := slices.Clone(n.links), n.reversed().links
	slices.SortFunc(links, order)
	slices.SortFunc(back, order)
	return slices.Equal(links, back)
}

// A sharing is the linear program for shares. Like ranks have one variable, and like links have one
// for what goes down, and one for what goes up unless that is what goes down the link back.
type sharing struct {
	n                  *network
	variables          int
	rank, onDown, onUp []int          // variables by rank and link
	each               int64          // bytes a second of a unit of rates
	sum                int64          // of all rates, in these units
	rows               map[string]int // by coefficients and bound: place among all
	program            *program
}

// newSharing returns the program without rows.
func newSharing(n *network, colours []int32, isReversible bool) *sharing {
	p := &sharing{n: n, rows: map[string]int{}}
	for _, l := range n.links {
		p.each = unit.GCD(int64(min(l.rate, fastest)), p.each)
	}
	for i := range n.links {
		p.sum += p.units(i)
	}
	numbers := symmetry.Colours[[4]int64]{}
	number := func(kind int, a, b int32, rate unit.Rate) int {
		v, _ := numbers.Number([4]int64{int64(kind), int64(a), int64(b), int64(rate)})
		return int(v)
	}
	const ranks, down, up = 0, 1, 2
	for rank := range n.ranks {
		p.rank = append(p.rank, number(ranks, colours[rank], 0, 0))
	}
	for _, l := range n.links {
		a, b := colours[l.from], colours[l.to]
		p.onDown = append(p.onDown, number(down, a, b, l.rate))
		if isReversible {
			p.onUp = append(p.onUp, number(down, b, a, l.rate))
		} else {
			p.onUp = append(p.onUp, number(up, a, b, l.rate))
		}
	}
	p.variables = len(numbers)
	return p
}

// units returns the rate of a link.
func (p *sharing) units(i int) int64 { return int64(min(p.n.links[i].rate, fastest)) / p.each }

// solve finds the shares. It begins without the rows of sets, and adds those that a solution
// violates, until there are none.
func (p *sharing) solve() (*shares, error) {
	objective := make([]int64, p.variables)
	for _, v := range p.rank {
		objective[v]++
	}
	p.program = newProgram(p.variables, objective, p.sum)
	for i := range p.n.links {
		row := make([]int64, p.variables)
		row[p.onDown[i]]++
		row[p.onUp[i]]++
		p.require(row, p.units(i))
	}
	p.balance(p.onDown)
	p.balance(p.onUp)
	for {
		if err := p.program.solve(); err != nil {
			return nil, err
		}
		values := p.program.solution()
		found := p.separate(values, false)
		if !p.separate(values, true) && !found {
			return p.result(values), nil
		}
	}
}

// require adds a row, if there is none like it.
func (p *sharing) require(row []int64, bound int64) bool {
	var key []byte
	for _, c := range row {
		key = append(strconv.AppendInt(key, c, 36), ' ')
	}
	key = strconv.AppendInt(key, bound, 36)
	if _, known := p.rows[string(key)]; known {
		return false
	}
	p.rows[string(key)] = len(p.rows)
	p.program.add(row, bound)
	return true
}

// balance requires of every switch that it receives as much as it sends.
func (p *sharing) balance(on []int) {
	rows := make([][]int64, 2*p.n.nodes)
	for v := range rows {
		rows[v] = make([]int64, p.variables)
	}
	for i, l := range p.n.links {
		for sign, at := range [2]int{0, p.n.nodes} {
			rows[at+l.from][on[i]] += int64(1 - 2*sign)
			rows[at+l.to][on[i]] -= int64(1 - 2*sign)
		}
	}
	for v := p.n.ranks; v < p.n.nodes; v++ {
		p.require(rows[v], 0)
		p.require(rows[p.n.nodes+v], 0)
	}
}

// separate adds rows of sets that a solution violates, and reports whether there are any: those of
// the least cuts between all roots and each rank. Numbers that are too large for a flow are rounded
// for it; the rows are exact.
func (p *sharing) separate(values []*big.Rat, isUp bool) (found bool) {
	on := p.onDown
	if isUp {
		on = p.onUp
	}
	whole := inWholeNumbers(values)
	f, total := newFlow(p.n.nodes+1), int64(0)
	for i, l := range p.n.links {
		if isUp {
			l.from, l.to = l.to, l.from
		}
		f.add(l.from, l.to, whole[on[i]])
	}
	for rank, v := range p.rank {
		f.add(p.n.nodes, rank, whole[v])
		total += whole[v]
	}
	for rank := range p.n.ranks {
		if f.run(p.n.nodes, rank, total) == total {
			continue
		}
		row := make([]int64, p.variables)
		for other, v := range p.rank {
			if f.level[other] >= 0 {
				row[v]++
			}
		}
		for i, l := range p.n.links {
			if isUp {
				l.from, l.to = l.to, l.from
			}
			if f.level[l.from] >= 0 && f.level[l.to] < 0 {
				row[on[i]]--
			}
		}
		excess := new(big.Rat)
		for v, c := range row {
			addTimes(excess, big.NewRat(c, 1), values[v])
		}
		if excess.Sign() > 0 {
			found = p.require(row, 0) || found
		}
	}
	return found
}

// inWholeNumbers returns numbers in proportion, at most 2^44 or so each, rounded if need be.
func inWholeNumbers(values []*big.Rat) []int64 {
	common, most := big.NewInt(1), new(big.Rat)
	for _, v := range values {
		g := new(big.Int).GCD(nil, nil, common, v.Denom())
		common.Mul(common, new(big.Int).Div(v.Denom(), g))
		if v.Cmp(most) > 0 {
			most = v
		}
	}
	factor := new(big.Rat).SetInt(common)
	if limit := big.NewRat(1<<44, 1); new(big.Rat).Mul(factor, most).Cmp(limit) > 0 {
		factor.Quo(limit, most)
	}
	list := make([]int64, len(values))
	for i, v := range values {
		list[i] = floor(new(big.Rat).Mul(v, factor))
	}
	return list
}

// floor returns the whole part of a number that is not negative.
func floor(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() }

// result returns the shares of a solution. What it leaves of links is halved.
func (p *sharing) result(values []*big.Rat) *shares {
	each := big.NewRat(p.each, 1)
	s := &shares{total: new(big.Rat).Mul(p.program.value, each), down: p.n.clone(), up: p.n.clone()}
	for _, v := range p.rank {
		s.of = append(s.of, new(big.Rat).Mul(values[v], each))
	}
	for i := range p.n.links {
		down := new(big.Rat).Mul(values[p.onDown[i]], each)
		up := new(big.Rat).Mul(values[p.onUp[i]], each)
		rest := big.NewRat(int64(min(p.n.links[i].rate, fastest)), 1)
		rest.Sub(rest, down).Sub(rest, up).Mul(rest, big.NewRat(1, 2))
		s.down.links[i].rate = unit.Rate(floor(down.Add(down, rest)))
		s.up.links[i].rate = unit.Rate(floor(up.Add(up, rest)))
	}
	s.up = s.up.reversed()
	return s
}

// rounded returns a demand of so many trees in all, in proportion to the shares (largest
// remainders).
func (s *shares) rounded(trees int64) demand {
	d, left := make(demand, len(s.of)), trees
	rest, order := make([]*big.Rat, len(s.of)), make([]int, len(s.of))
	for rank, x := range s.of {
		wanted := new(big.Rat).Quo(new(big.Rat).Mul(x, big.NewRat(trees, 1)), s.total)
		d[rank] = floor(wanted)
		rest[rank], order[rank] = wanted.Sub(wanted, big.NewRat(d[rank], 1)), rank
		left -= d[rank]
	}
	slices.SortStableFunc(order, func(a, b int) int { return rest[b].Cmp(rest[a]) })
	for _, rank := range order[:left] {
		d[rank]++
	}
	return d
}

// pair returns the trees of a demand up, at a scale, and those down.
func (s *shares) pair(d demand, up, down scale) (pair [2]*Forest, err error) {
	if pair[0], err = s.up.forest(d, up); err == nil {
		pair[1], err = s.down.forest(d, down)
	}
	return pair, err
}

// forests returns trees up and down, at most so many in all, each notably faster than the
// ones with fewer trees, and than a choice, until the shares are not notably faster.
func (s *shares) forests(than choice, most int64) (list [][2]*Forest, err error) {
	limit := choice{1, scale{1, unit.Rate(floor(s.total))}}
	if !limit.faster(than, notably) {
		return nil, nil
	}
	for trees := int64(1); trees <= most && limit.faster(than, notably); trees++ {
		d := s.rounded(trees)
		down, ok := s.down.best(&prober{n: s.down}, d, trees, than)
		if !ok {
			continue
		}
		up, ok := s.up.best(&prober{n: s.up}, d, trees, than)
		if !ok || !down.faster(than, notably) || !up.faster(than, notably) {
			continue
		}
		pair, err := s.pair(d, up.scale, down.scale)
		switch {
		case errors.Is(err, errNoTrees): // each message's route has a link that one way lacks
			continue
		case err != nil:
			return nil, err
		}
		list = append(list, pair)
		if than = down; down.faster(up, 100) {
			than = up
		}
	}
	return list, nil
}
