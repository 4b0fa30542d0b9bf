package proof

import "fmt"

// run is n blocks of a buffer from one on, now and then one by one: these come in another order on
// other ranks, which is right as long as all regions of a step, and of a message, are so.
func (g *grouper) run(buffer string, first, n int32) string {
	if g.IntN(12) > 0 {
		return fmt.Sprintf("%s[%d x%d]", buffer, first, n)
	}
	var list []int32
	for i := range n {
		list = append(list, first+i)
	}
	return blocks(buffer, list)
}

// elsewhere is a run of as many blocks that begins elsewhere.
func (g *grouper) elsewhere(region string) string {
	var buffer string
	var first, n int32
	for i := range region {
		if region[i] == '[' {
			buffer = region[:i]
			if _, err := fmt.Sscanf(region[i:], "[%d x%d]", &first, &n); err != nil {
				return region
			}
		}
	}
	return fmt.Sprintf("%s[%d x%d]", buffer, g.Int32N(g.n), n)
}

// allReduceRuns has partners exchange halves of what they have, and add, and then all that is
// complete, of a group of bits.
func (g *grouper) allReduceRuns(mirrored bool) {
	partner := func(n int32) int32 {
		if mirrored {
			return g.group.Mirror(n)
		}
		return n
	}
	for n := g.n / 2; n > 0; n /= 2 {
		g.send(g.run("out", n, n), partner(n))
		g.recvReduce(partner(n), g.run("out", 0, n))
	}
	for n := int32(1); n < g.n; n *= 2 {
		g.send(g.run("out", 0, n), partner(n))
		g.recv(partner(n), g.run("out", n, n))
		if by := 1 + g.Int32N(n); g.IntN(2) == 0 && by < n { // who has the same already
			g.send(g.run("out", 0, 2*n), partner(by&-by))
			g.recv(partner(by&-by), g.run("out", 0, 2*n))
		}
	}
}
