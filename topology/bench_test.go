package topology

import (
	"fmt"
	"runtime"
	"testing"
)

// sizes returns each preset and a cluster of nodes of eight at n ranks, a power of four.
func sizes(n int) []Params {
	side := 1
	for side*side < n {
		side *= 2
	}
	all := []Params{
		{Preset: "switch", Ranks: n},
		{Preset: "ring", Ranks: n},
		{Preset: "torus", Shape: []int{side, side}},
		{Preset: "hypercube", Ranks: n},
		{Preset: "tree", Ranks: n, K: 8},
		{Preset: "leaf-spine", Ranks: n, K: 32},
		{Preset: "fat-tree", Ranks: n, Routing: ECMP},
		{Preset: "dragonfly", Ranks: n},
	}
	for i := range all {
		all[i].Bandwidth = rate
	}
	for _, network := range []string{"rails", "fat-tree"} {
		all = append(all, Params{Nodes: n / 8,
			Node:    &Params{Preset: "switch", Ranks: 8, Bandwidth: rate},
			Network: &Params{Preset: network, Bandwidth: rate}, Routing: ECMP})
	}
	return all
}

func name(p Params) string {
	if p.Node != nil {
		return "cluster-" + p.Network.Preset
	}
	return p.Preset
}

// BenchmarkBuild makes networks of 1,024 and 16,384 ranks.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1024, 16384} {
		for _, p := range sizes(n) {
			b.Run(fmt.Sprint(name(p), "/", n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Build(p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRoutes asks for the routes of the pairs of recursive doubling (14 a rank at 16,384), of
// each rank to the next one included, and reports what the network then holds in memory. The time
// per pair is that of the first question, since a simulation asks once.
func BenchmarkRoutes(b *testing.B) {
	for _, n := range []int{1024, 16384} {
		for _, p := range sizes(n) {
			b.Run(fmt.Sprint(name(p), "/", n), func(b *testing.B) {
				var before, after runtime.MemStats
				pairs, held := 0, uint64(0)
				for b.Loop() {
					runtime.GC()
					runtime.ReadMemStats(&before)
					g, err := Build(p)
					if err != nil {
						b.Fatal(err)
					}
					buf := make([]int32, 0, 4*n)
					for far := 1; far < n; far *= 2 {
						for r := range n {
							g.Route(r, r^far, buf[:0])
							pairs++
						}
					}
					runtime.GC()
					runtime.ReadMemStats(&after)
					held = after.HeapAlloc - before.HeapAlloc
					runtime.KeepAlive(g)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(pairs), "ns/pair")
				b.ReportMetric(float64(held)/(1<<20), "MiB")
			})
		}
	}
}
