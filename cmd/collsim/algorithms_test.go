package main

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/libraries"
	"collsim/algos/nccl"
	"collsim/algos/openmpi"
	"collsim/algos/synth"
	"collsim/collective"
	"collsim/device"
	"collsim/plots"
	"collsim/proof"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// What docs/algorithms.md begins with; the pictures' machine is that of drawn.
const aboutAlgorithms = `# Algorithms

<!-- Written from the table in package algos, by go test ./cmd/collsim -run Algorithms -update -->

What "collsim list algorithms" lists, with what each costs, where it comes from, and what it
looks like. All pass the same suite (package algos/algostest); [CONTRIBUTING.md](../CONTRIBUTING.md)
says how to add one.

Costs are those of the literature, in the α-β-γ model: every message takes α and β for each of its
bytes, γ for each byte that is added, and nobody shares a wire. Where a rank sends to several at
once, or receives from several, these share its port on a switch: that cost has a line of its own.
Results show the cost that holds on their network (closed_form_ps), and none where messages without
a sender or a receiver in common meet on a link, as all that leave a node by one NIC. In them

* p is the number of ranks,
* n the size in bytes as nccl-tests counts it: for all_gather, reduce_scatter, all_to_all, gather
  and scatter the whole vector, of all ranks' blocks,
* k is ⌈log₂ p⌉,
* q the largest power of two that is at most p, and f is 0 if that is p, else 1,
* m the number of segments of the largest block.

A test evaluates every formula at many numbers of ranks and compares it with the closed form, and
another holds the closed form to the schedule.

The pictures are runs of ` + drawnOn + `. A row is
a lane of a rank; of more than 16 rows only some are shown.

`

// drawnOn is the machine of the pictures in words.
const drawnOn = "1 MiB on 8 ranks with a wire from each to each, of 1 us and 10 GB/s"

const (
	drawnRanks   = 8
	drawnSize    = 1 * unit.MiB
	drawnSegment = 128 * unit.KiB // of algorithms that have segments
	drawnRows    = 16
)

// TestAlgorithmsDocument writes docs/algorithms.md again.
func TestAlgorithmsDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(aboutAlgorithms)
	contents(&b, algos.Table())
	for _, kind := range collective.Kinds() {
		first := true
		for _, a := range algos.ForKind(kind) {
			if a.Kinds[0] != kind {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n## %v\n", kind)
			}
			first = false
			describe(t, &b, a)
		}
	}
	b.WriteString(aboutFurther)
	contents(&b, algos.Further())
	for _, a := range algos.Further() {
		describe(t, &b, a)
	}
	library(&b, aboutSynth, synth.Table())
	libraryTables(&b)
	path := filepath.Join(repository(t), "docs", "algorithms.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
		return
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	was, is := strings.Split(string(have), "\n"), strings.Split(b.String(), "\n")
	for i := range min(len(was), len(is)) { // all at once would be unreadable
		require.Equal(t, was[i], is[i], "line %d: go test ./cmd/collsim -run Algorithms -update "+
			"rewrites it", i+1)
	}
	require.Equal(t, len(was), len(is), "lines")
}

// What the parts about other people's algorithms begin with.
const aboutNCCL = `
## NCCL's own

What NVIDIA's NCCL executes: its rings, trees, NVLS and NVLSTree, PAT, and sends and receives
(p2p), in its channels, loops, chunks and slices, and with its order of additions, so that bits can
be predicted: but for NVLS and CollNet, where switches add ([nvls.md](nvls.md)). A
scenario names them as "nccl:ring", or
"nccl:tree(protocol=simple,nchannels=2)", and they are proven, timed and computed like ours, without
NCCL or a GPU. "nccl:auto" is what the library chooses by itself, by its own model of latency and
bandwidth; the heading, or below several sizes a table, says what that was and why, in JSON
"picked" and "picked_algorithm", "picked_protocol", "picked_channels" and "picked_threads".

Tests hold the model against the tables that NCCL 2.30.7's own code gives for these machines,
channels and chunks against its rules, the trees against its graph/trees.cc for 2 to 64 nodes, and
PAT's messages and sums against its own code for 2 to 33 ranks. No recorded bits of a GPU are here
yet. What a machine's name does not tell is taken as it usually is: rings of one node go from rank
to rank, and those of several through node after node, each channel's from another GPU on.

LL's flags are on the wires of a simulation, where they double the bytes, and LL128's, 8 bytes of
every 128. all_to_all, all_to_allv, gather, scatter and send_recv are groups of sends and receives
in NCCL, and there is nothing to choose: "nccl:p2p" has its rounds, the channels and parts of a
message, and what goes by LL, each message of an all_to_allv by its own size; the rounds that a
channel does together run beside each other, and those after them do not wait for all of them. Of
several nodes, messages inside of a node are cut as those between. Of CollNet there is all_reduce.
"all" does not stand for any of them; "fastest" tries them on NVIDIA's GPUs.

`

const aboutFurther = `
## Permute, and groups of sends

A permute (XLA's collective-permute, JAX's ppermute) is an all_to_allv whose splits have a block for
each pair of ranks, and "direct(empty=skip)" carries it out: every rank sends at once what it has,
waits for what comes to it alone, and copies what it keeps. So is any group of sends and receives,
with at most one message from a rank to another: their sizes are the splits. "collsim
example:permute" has five pairs. How the permutes of HLO are read, [programs.md](programs.md) says.

## Quantised sums

An all_reduce whose messages have fewer bits than its data rounds on the way. It is no schedule of
one collective, but a program of casts, an all_to_all, a sum and an all_gather ("collsim
example:quantised"; ZeRO++, arXiv 2306.10209, section 3.3; EQuARX, arXiv 2506.17615), with its
values and proven as such. By float8_e5m2, which rounds by an eighth of a number at most (u), n
ranks' sum is off by (2u + u²)·Σ|x| at most, and by (n + 1)·2⁻¹⁷ where numbers are tiny. A test
holds it to that.

## Further ones

The other algorithms, less known or for networks of a kind. "all" and "fastest" try these and those
above, as far as they can do what is asked: those by NVLS need a switch that multicasts and reduces
(topology.multimem), and are drawn on one.

`

const aboutSynth = `
## Made for the network

Schedules that are made for the links of the scenario, whatever they are:
[synthesis.md](synthesis.md) says how, and shows how near they come to what a network allows. The
heading, or below several sizes a table, says what was made. They depend on the network alone and
have no formula. "all" and "fastest" do not try them.

`

const aboutOpenMPI = `
## Open MPI's own

What Open MPI executes, message by message, sum by sum, as its source has it; it need not be
installed.
A scenario names them as "openmpi:ring", or "openmpi:pipeline(segment=64KiB)", and they are proven,
timed and computed like ours. Tests compare them with the library, where that is installed: the
calls below its collectives, and the bits of its results (package hw/mpi). They have neither
channels nor slices, no cost is published, and MPI has no avg and no premulsum. "openmpi:tuned" is
what the library chooses by itself, on one host; the heading says what that was, in JSON "picked".
"all" and "fastest" do not stand for any of them.

`

const aboutLibraries = `
## What other libraries choose

Gloo, MPICH, oneCCL and UCC choose among algorithms that are drawn above, by tables of ranks and
bytes in their sources. "mpich:auto" is the algorithm of ours that does what MPICH's choice does;
the heading says what the library calls it, and by which rule, in JSON "picked".
What a library has and nothing here does the same as is refused, by the library's name for it.
Only the choice is the library's: its protocols, its shared memory inside a node and what it makes
of several nodes are not here. "all" and "fastest" do not stand for any of them.

`

// libraryTables writes the tables of the algorithms of libraries.
func libraryTables(b *strings.Builder) {
	library(b, aboutNCCL, nccl.Table())
	library(b, aboutOpenMPI, openmpi.Table())
	library(b, aboutLibraries, libraries.Table())
}

// library writes the table of one.
func library(b *strings.Builder, about string, all []algos.Algorithm) {
	b.WriteString(about)
	b.WriteString("| kind | algorithm, with what may be set | what it does | when |\n" +
		"|---|---|---|---|\n")
	for _, a := range all {
		e := algorithmEntry(a)
		fmt.Fprintf(b, "| %s | `%s` | %s | %s |\n", strings.Join(e.Kinds, ", "), e.Name,
			a.About, a.When)
	}
	seen := map[string]bool{}
	for _, a := range all {
		for _, p := range a.Params {
			if !seen[p.Name] {
				fmt.Fprintf(b, "\nParameter `%s`: %s.\n", p.Name, p.About)
			}
			seen[p.Name] = true
		}
	}
}

// contents lists what there is for each kind.
func contents(b *strings.Builder, table []algos.Algorithm) {
	b.WriteString("| kind | algorithms |\n|---|---|\n")
	for _, kind := range collective.Kinds() {
		var links []string
		for _, a := range table {
			if a.Does(kind) {
				links = append(links, fmt.Sprintf("[%s](#%s)", a.Name, anchor(a)))
			}
		}
		if len(links) > 0 {
			fmt.Fprintf(b, "| %v | %s |\n", kind, strings.Join(links, ", "))
		}
	}
}

// title is an algorithm's heading, and anchor the place that it makes.
func title(a algos.Algorithm) string {
	kinds := make([]string, len(a.Kinds))
	for i, k := range a.Kinds {
		kinds[i] = k.String()
	}
	return a.Name + ": " + strings.Join(kinds, ", ")
}

func anchor(a algos.Algorithm) string {
	return strings.NewReplacer(" ", "-", ":", "", ",", "").Replace(title(a))
}

// describe writes the section of an algorithm.
func describe(t *testing.T, b *strings.Builder, a algos.Algorithm) {
	t.Helper()
	spec, options := drawn(a)
	fmt.Fprintf(b, "\n### %s\n\n%s.\n\n", title(a), sentence(a.About))
	fmt.Fprintf(b, "* When: %s.\n* Cost: %s", a.When, a.Formula)
	if a.Formula != "" && len(formulaFails(t, a, algos.PerConnection, 3, 5, 6, 7, 9, 12)) > 0 {
		b.WriteString(" if p is a power of two")
	}
	switch _, err := a.CostOf(spec, options); {
	case err != nil:
		b.WriteString("none is published")
	case a.Formula == "": // it depends on parameters
		fmt.Fprintf(b, "at 8 ranks %s", drawnCost(t, a, spec, options))
	default:
		fmt.Fprintf(b, "; at 8 ranks %s", drawnCost(t, a, spec, options))
	}
	b.WriteString(".\n")
	if a.Ports != "" {
		fmt.Fprintf(b, "* On a switch: %s.\n", a.Ports)
	}
	for _, p := range a.Params {
		fmt.Fprintf(b, "* Parameter `%s` (%s): %s.\n", p.Name, p.Value, p.About)
	}
	fmt.Fprintf(b, "* Source: %s.\n\n", a.Source)

	s, err := a.Build(spec, options)
	require.NoError(t, err, a.Name)
	proven, wrong := proof.Verify(s, proof.Options{})
	require.Empty(t, wrong, a.Name)
	took, err := sim.Run(s, sim.Env{Graph: drawnNetwork(t, a), Device: device.Ideal(), Slots: 8},
		sim.Options{Trace: true})
	require.NoError(t, err, a.Name)
	picture, err := plots.TimelinesText([]plots.Panel{{Trace: took.Trace}},
		plots.TextOptions{Rows: drawnRows})
	require.NoError(t, err, a.Name)
	fmt.Fprintf(b, "```text\n%s```\n\nTime %v, ", picture, took.Time)
	fmt.Fprintf(b, "rounds %d, messages %d, bytes sent %d, FIFO depth %d.\n", proven.Rounds,
		proven.Messages, proven.BytesSent, proven.MinSlots)
}

// drawnNetwork is a full mesh; where a switch multicasts and reduces, it is that switch.
func drawnNetwork(t *testing.T, a algos.Algorithm) *topology.Graph {
	t.Helper()
	const rate, latency = 10 * unit.Rate(unit.GB), unit.Microsecond
	mesh, err := topology.FullMesh(drawnRanks, rate, latency)
	if a.Multimem {
		mesh, err = topology.Build(topology.Params{Preset: "switch", Ranks: drawnRanks,
			Bandwidth: rate, Latency: latency / 2, Multimem: true})
	}
	require.NoError(t, err)
	return mesh
}

// sentence begins with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// drawn is the collective of an algorithm's picture, and how the algorithm is applied.
func drawn(a algos.Algorithm) (collective.Spec, algos.Options) {
	spec := plainSpec(a.Kinds[0], drawnRanks)
	rows := 0
	switch {
	case spec.Kind == collective.AllToAllV:
		rows = drawnRanks
	case spec.Kind.Splits():
		rows = 1
	}
	block := int64(drawnSize) / drawnRanks / 4
	for r := range rows { // half, the whole or one and a half of a block, in turn
		row := make([]int64, drawnRanks)
		for i := range row {
			row[i] = block * int64(1+(r+i)%3) / 2
		}
		spec.Splits = append(spec.Splits, row)
	}
	var o algos.Options
	segment := drawnSegment
	if a.Multimem { // of a rank's chunk, which would be one
		segment /= 4
	}
	if hasSegments(a) {
		o.Params = []algos.Param{{Name: "segment", Value: segment.String()}}
	}
	return spec.WithBytes(drawnSize), o
}

// drawnCost is the closed form of the picture's collective, with numbers for all symbols but n.
func drawnCost(t *testing.T, a algos.Algorithm, spec collective.Spec, o algos.Options) string {
	t.Helper()
	counts, err := countsOf(a, spec, o, algos.PerConnection)
	require.NoError(t, err, a.Name)
	var terms []string
	for i, symbol := range []string{"α", "n·β", "n·γ"} {
		count := counts[i]
		if i > 0 {
			count.Quo(count, big.NewRat(max(int64(spec.Bytes()), 1), 1))
		}
		switch {
		case count.Sign() == 0:
		case count.Cmp(big.NewRat(1, 1)) == 0:
			terms = append(terms, symbol)
		default:
			terms = append(terms, count.RatString()+"·"+symbol)
		}
	}
	text := strings.Join(terms, " + ")
	cost, err := a.CostOf(spec, o)
	require.NoError(t, err, a.Name)
	if cost.AtMost {
		text = "at most " + text
	}
	if len(o.Params) > 0 {
		text += " in segments of " + drawnSegment.String()
	}
	return text
}
