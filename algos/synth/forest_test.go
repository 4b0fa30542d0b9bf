package synth

import (
	"fmt"
	"testing"
	"time"

	"collsim/topology"
	"collsim/unit"
)

func wire(a, b string, c int) topology.Wire {
	return topology.Wire{From: a, To: b, Bandwidth: unit.Rate(c) * unit.Rate(unit.GB), Both: true}
}

func wires(c string) (w []topology.Wire) {
	switch c {
	case "star8", "star16", "star64":
		n := 0
		fmt.Sscanf(c, "star%d", &n)
		for i := range n {
			w = append(w, wire(fmt.Sprint("gpu", i), "sw", 1))
		}
	case "ring8":
		for i := range 8 {
			w = append(w, wire(fmt.Sprint("gpu", i), fmt.Sprint("gpu", (i+1)%8), 1))
		}
	case "hc64":
		for i := range 64 {
			for b := 1; b < 64; b *= 2 {
				if i&b == 0 {
					w = append(w, wire(fmt.Sprint("gpu", i), fmt.Sprint("gpu", i^b), 1))
				}
			}
		}
	case "mesh4x4", "torus4x4":
		for i := range 16 {
			if i%4 < 3 || c[0] == 't' {
				w = append(w, wire(fmt.Sprint("gpu", i), fmt.Sprint("gpu", i/4*4+(i+1)%4), 1))
			}
			if i/4 < 3 || c[0] == 't' {
				w = append(w, wire(fmt.Sprint("gpu", i), fmt.Sprint("gpu", (i+4)%16), 1))
			}
		}
	case "dgx1":
		for r, row := range []string{"01122000", "00210200", "00020010", "00000001", "00000112", "00000021", "00000002"} {
			for k, ch := range row {
				if k > r && ch > '0' {
					w = append(w, wire(fmt.Sprint("gpu", r), fmt.Sprint("gpu", k), int(ch-'0')))
				}
			}
		}
	case "a100":
		for r := range 16 {
			w = append(w, wire(fmt.Sprint("gpu", r), fmt.Sprint("nv", r/8), 300), wire(fmt.Sprint("gpu", r), fmt.Sprint("ib", r%2), 25))
		}
	case "leo16", "leo64":
		n := 0
		fmt.Sscanf(c, "leo%d", &n)
		for r := range n {
			for q := r + 1; q < r/4*4+4; q++ {
				w = append(w, wire(fmt.Sprint("gpu", r), fmt.Sprint("gpu", q), 74))
			}
			w = append(w, wire(fmt.Sprint("gpu", r), fmt.Sprint("nic", r), 11), wire(fmt.Sprint("nic", r), "ib", 11))
		}
	case "ls16":
		for r := range 16 {
			w = append(w, wire(fmt.Sprint("gpu", r), fmt.Sprint("leaf", r/4), 1))
		}
		for l := range 4 {
			for s := range 2 {
				w = append(w, wire(fmt.Sprint("leaf", l), fmt.Sprint("spine", s), 1))
			}
		}
	}
	return w
}

func TestX(t *testing.T) {
	for _, c := range []string{"star8", "star16", "star64", "ring8", "mesh4x4", "torus4x4", "dgx1", "a100", "leo16", "leo64", "ls16", "hc64"} {
		g, err := topology.Links(0, wires(c))
		if err != nil {
			t.Fatal(err)
		}
		if c == "ls16" {
			g.Routing = topology.ECMP
		}
		n := newNetwork(g)
		s := time.Now()
		list, err := n.choices(func(k int64) demand { return everywhere(n.ranks, k) }, 1, 16)
		t1 := time.Since(s)
		f, err := n.forest(func(k int64) demand { return everywhere(n.ranks, k) }, 1, 16)
		if err != nil {
			t.Log(c, list, err)
			continue
		}
		t.Log(c, list, t1, time.Since(s), f.Units, f.Depth(), len(f.Trees), float64(f.Each)*float64(f.Units)*float64(n.ranks)/1e9)
	}
}
