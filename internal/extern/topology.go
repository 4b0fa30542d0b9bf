package extern

import (
	"fmt"

	"collsim/topology"
	"collsim/unit"
)

// Petersen returns the Petersen graph as a network of ten ranks and fifteen wires. Each rank has
// three neighbours, and reaches all others over at most two links. Ranks 0 to 4 are the outer
// pentagon, 5 to 9 the inner star.
func Petersen(bandwidth unit.Rate, latency unit.Time) (*topology.Graph, error) {
	var wires []topology.Wire
	join := func(a, b int) {
		wires = append(wires, topology.Wire{From: fmt.Sprint("gpu", a), To: fmt.Sprint("gpu", b),
			Bandwidth: bandwidth, Latency: latency, Both: true})
	}
	for i := range 5 {
		join(i, (i+1)%5)
		join(5+i, 5+(i+2)%5)
		join(i, 5+i)
	}
	return topology.Links(10, wires)
}
