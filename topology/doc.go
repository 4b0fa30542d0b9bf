// Package topology describes the network: nodes (one for each rank, and switches), directed links,
// and the route of every pair of ranks. Build makes the presets and clusters of them; Links takes a
// network wire by wire; Override makes single links slower or longer.
//
// A route is a shortest path by number of links, and some links have a larger length. A wire may
// have a length. A dragonfly's global link has length three, so that a route takes at most one of
// them. The link between a GPU and its NIC is longer than any path without one. So routes inside a
// node stay there, and others leave their nodes once. If several paths are shortest, each hop, from
// the source on, takes the link of the lowest index on one of them; with ECMP a fixed hash of the
// two ranks picks it. Bandwidth and latency have no influence, so an override never moves traffic.
// Ranks forward traffic of others, as a ring requires.
//
// The package knows links and not how traffic shares them: package sim does.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	graphs: topology.go formula.go params.go changed.go
//	routes: search.go route.go
//	formulas: tiers.go opengrid.go wrappedgrid.go dragonflyformula.go
//	presets: grid.go fattree.go tree.go dragonfly.go links.go
//	clusters: attach.go parts.go cluster.go clusterformula.go uneven.go order.go catalogue.go
//	alterations: match.go hops.go
//	paths: leave.go multimem.go rings.go
//	symmetry: replicas.go quotient.go
package topology
