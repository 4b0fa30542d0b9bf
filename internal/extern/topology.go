package extern

import (
	"fmt"

	"collsim/topology"
	"collsim/unit"
)

// Petersen is the network of ten ranks and fifteen wires that is named after Petersen: each rank has
// three neighbours, and reaches all others over two links at most. Ranks 0 to 4 are the outer
// pentagon, 5 to 9 the star inside.
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
