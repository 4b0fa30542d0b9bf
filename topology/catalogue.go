package topology

import (
	"slices"
	"strconv"
	"strings"
)

// Preset is an entry of the Catalogue: a network that a few numbers describe. Its fields are all
// that other code needs to know about it: names of presets are compared nowhere else.
type Preset struct {
	Name  string
	Takes []string // keys of its parameters besides bandwidth and latency
	Text  string   // a sentence for lists and documents
	// SetsRanks lists the parameters that fix the number of ranks, alone or together.
	SetsRanks []string
	// Needs lists the parameters, besides ranks, that have no default.
	Needs []string
	// Links is the number of links on its longest routes, from rank to rank; 0 if the number of
	// ranks decides.
	Links int
	// OneSwitch reports that all ranks are on one switch.
	OneSwitch bool
	// OnlyNICs reports that it joins the NICs of nodes, and no GPUs.
	OnlyNICs bool

	build    func(Params) (*Graph, error)
	switches bool // it has switches
	// spines reports whether spine switches join its leaves; nil: none do.
	spines func(*Params) bool
}

// Catalogue returns the presets of Build, each described by the function that makes it.
func Catalogue() []Preset {
	always := func(*Params) bool { return true }
	return []Preset{
		{Name: "switch", Takes: []string{"ranks"}, Text: "All ranks on one switch.",
			Links: 2, OneSwitch: true, switches: true, build: func(p Params) (*Graph, error) {
				return Switch(p.Ranks, p.Bandwidth, p.Latency)
			}},
		{Name: "full-mesh", Takes: []string{"ranks"}, Text: "A link from each rank to each other.",
			Links: 1, build: func(p Params) (*Graph, error) {
				return FullMesh(p.Ranks, p.Bandwidth, p.Latency)
			}},
		{Name: "ring", Takes: []string{"ranks"},
			Text: "Each rank is linked to the next and to the one before.",
			build: func(p Params) (*Graph, error) {
				return Ring(p.Ranks, p.Bandwidth, p.Latency)
			}},
		{Name: "mesh", Takes: []string{"ranks", "shape"}, SetsRanks: []string{"shape"},
			Needs: []string{"shape"}, Text: "A grid of any dimensions; ranks forward.", build: mesh},
		{Name: "torus", Takes: []string{"ranks", "shape"}, SetsRanks: []string{"shape"},
			Needs: []string{"shape"}, Text: "A mesh whose ends are joined; ranks forward.", build: torus},
		{Name: "hypercube", Takes: []string{"ranks"},
			Text: "Ranks whose numbers differ in one bit are linked.", build: hypercube},
		{Name: "tree", Takes: []string{"ranks", "k"}, Needs: []string{"k"},
			Text:     "Switches with k children each; ranks are the leaves.",
			switches: true, build: tree},
		{Name: "fat-tree", Takes: []string{"ranks", "k", "oversubscription"},
			SetsRanks: []string{"k"},
			Text:      "Three levels of switches with k ports in k pods; k³/4 ranks or fewer.",
			Links:     6, spines: always, switches: true, build: fatTree},
		{Name: "leaf-spine", Takes: []string{"ranks", "k", "oversubscription"},
			Text: "k ranks on each leaf switch, every leaf on every spine switch; two racks if no k " +
				"is given.",
			Links: 4, spines: always, switches: true, build: leafSpine},
		{Name: "dragonfly", Takes: []string{"ranks", "a", "p", "h"},
			SetsRanks: []string{"a", "p", "h"},
			Text: "Groups of a routers with p ranks and h global links each; a link joins each two " +
				"groups.",
			Links: 5, switches: true, build: dragonfly},
		{Name: "rails", Takes: []string{"ranks", "k", "oversubscription"}, Needs: []string{"k"},
			Text: "k separate switches, rank r on rail r mod k; in a cluster, NIC i of every node " +
				"on rail i. With an oversubscription spine switches join them.",
			OnlyNICs: true, spines: func(p *Params) bool { return p.Oversubscription != 0 },
			switches: true, build: rails},
	}
}

// IsUniform reports whether all routes cross the same number of links, Links.
func (c *Preset) IsUniform() bool { return c.OneSwitch || c.Links == 1 }

// OneSwitch reports whether all ranks are on one switch.
func (p *Params) OneSwitch() bool { return Lookup(p.Preset).OneSwitch }

// HasSpines reports whether spine switches offer several shortest routes between two ranks. Such
// networks are built for ECMP.
func (p *Params) HasSpines() bool {
	c := Lookup(p.Preset)
	return c.spines != nil && c.spines(p)
}

// Lookup returns the entry of the Catalogue with that name; one without a name if there is none.
func Lookup(preset string) Preset {
	all := Catalogue()
	if i := slices.IndexFunc(all, func(c Preset) bool { return c.Name == preset }); i >= 0 {
		return all[i]
	}
	return Preset{}
}

// flat returns the preset; also lists the keys that are allowed besides its parameters.
func (p *Params) flat(also ...string) (*Graph, error) {
	if p.Preset == byWires {
		g, _, _, err := p.wired(also...)
		return g, err
	}
	c := Lookup(p.Preset)
	if c.Name == "" {
		return nil, &ParamError{"preset", strconv.Quote(p.Preset),
			"one of " + strings.Join(Names(), ", ") + " is expected"}
	}
	takes := append(slices.Clone(c.Takes), "bandwidth", "latency")
	if c.switches {
		also = append(also, "multimem")
	}
	if err := p.only(c.Name, takes, append(also, "preset")); err != nil {
		return nil, err
	}
	g, err := c.build(*p)
	if err == nil && p.Multimem {
		g.multimem(func(*Node) bool { return true })
	}
	return g, err
}

// Names lists the presets of the Catalogue.
func Names() []string {
	var names []string
	for _, c := range Catalogue() {
		names = append(names, c.Name)
	}
	return names
}
