package sccl

import (
	"math"
	"slices"
	"strings"
)

// collective reads the collective of the algorithm. Older files have no runtime_name, SCCL's no
// ranks.
func (d decoder) collective() error {
	var unused string
	c := &d.a.coll
	return d.object("collective", map[string]func() error{
		"name": d.text(&c.name),
		"nodes": func() error {
			n, err := d.Int(1, maxRanks)
			c.nodes = int(n)
			return err
		},
		"chunks": func() error {
			return d.Array(func(int) error { return d.chunk() })
		},
		"ranks": func() error {
			return d.Array(func(int) error { return d.rank() })
		},
		"triggers":     d.Skip, // used in the synthesis alone
		"runtime_name": d.text(&unused),
	}, "ranks runtime_name")
}

func (d decoder) chunk() error {
	var c chunk
	ranks := func(to *[]int) func() error {
		return func() (err error) {
			*to, err = d.numbers(maxRanks - 1)
			return err
		}
	}
	err := d.object("chunk", map[string]func() error{
		"pre": ranks(&c.pre), "post": ranks(&c.post),
		"addr": func() error {
			n, err := d.Int(0, maxAddress)
			c.addr = int(n)
			return err
		},
	}, "")
	d.a.coll.chunks = append(d.a.coll.chunks, c)
	return err
}

// rank reads TACCL's redundant list of chunks by rank. (After chunk_up its tool writes the whole
// rank where the number belongs.)
func (d decoder) rank() error {
	list := func() error {
		_, err := d.numbers(maxAddress)
		return err
	}
	return d.object("rank", map[string]func() error{"pre": list, "post": list,
		"id": func() error {
			composite, err := d.Composite()
			if err != nil {
				return err
			}
			if composite {
				return d.rank()
			}
			_, err = d.Int(0, maxRanks-1)
			return err
		},
	}, "")
}

// topology reads the topology that the algorithm was made for: SCCL's by links, TACCL's by nodes.
// Only the name of the latter is used.
func (d decoder) topology() error {
	t := &d.a.topology
	known := map[string]func() error{"name": d.text(&t.name), "links": d.links,
		"switches": d.switches}
	other := []string{"copies", "ngpus_per_node", "node_links", "node_invbws", "remote_invbw",
		"remote_alpha", "remote_beta", "internode_conn", "local_switches"}
	for _, key := range other {
		known[key] = func() error {
			d.a.taccl = true
			return d.Skip()
		}
	}
	if err := d.object("topology", known, "links switches "+strings.Join(other, " ")); err != nil {
		return err
	}
	if d.a.taccl == (t.links != nil) {
		return d.Errorf("a topology has either links (SCCL) or node_links (TACCL)")
	}
	return nil
}

func (d decoder) links() error {
	d.a.topology.links = [][]float64{}
	return d.Array(func(int) error {
		var row []float64
		err := d.Array(func(int) error {
			x, err := d.Float()
			row = append(row, x)
			return err
		})
		d.a.topology.links = append(d.a.topology.links, row)
		return err
	})
}

// switches reads [sources, destinations, bandwidth, name] of each.
func (d decoder) switches() error {
	return d.Array(func(int) error {
		x := crossbar{bandwidth: math.NaN()}
		fields := 0
		err := d.Array(func(i int) (err error) {
			fields = i + 1
			switch i {
			case 0:
				x.sources, err = d.numbers(maxRanks - 1)
			case 1:
				x.destinations, err = d.numbers(maxRanks - 1)
			case 2:
				x.bandwidth, err = d.Float()
			case 3:
				x.name, err = d.String()
			default:
				return d.Errorf("a switch has 4 fields")
			}
			return err
		})
		if err == nil && fields < 4 {
			return d.Errorf("a switch of %d fields; sources, destinations, bandwidth and name are "+
				"expected", fields)
		}
		slices.Sort(x.sources)
		slices.Sort(x.destinations)
		d.a.topology.switches = append(d.a.topology.switches, x)
		return err
	})
}

func contains(words, word string) bool {
	return slices.Contains(strings.Fields(words), word)
}
