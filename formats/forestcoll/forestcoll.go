// Package forestcoll reads ForestColl's trees: an all-gather in which each rank's block is cut into
// chunks, and each chunk goes down a spanning tree of its own.
//
//	<Algo nchunkspernode="2">
//	  <tree root="(0, 'GPU', 0)" index="0" nchunks="2" height="2">
//	    <send src="(0, 'GPU', 0)" dst="(0, 'GPU', 1)" path="(0, 'GPU', 0),(0, 'GPU', 1)"/>
//
// Together the trees saturate every bottleneck link, which needs pipelining. Chunks are cut into
// tiles of about TileSize, and every edge of a tree sends them one after the other (package
// transfers). The time is that of the tiles on the busiest link, plus as many tiles as the highest
// tree has levels. So it is near the bound only if there are many tiles. Run backwards, the same
// trees reduce and scatter; reduction then gathering is an all-reduce.
//
// The topology determines the links of a path, since a schedule names its ends only. The package
// checks that a path begins and ends where its send does.
//
// Source: Zhao et al., "ForestColl: Efficient Collective Communications on Heterogeneous Network
// Fabrics", arXiv:2402.06787; pipeline_allgather.py of liangyuRain/ForestColl.
package forestcoll

import (
	"fmt"
	"io"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/transfers"
	"collsim/unit"
)

// TileSize is the approximate size of a message. A file read without a size has unsizedTiles tiles
// for each chunk, so that a proof sees the pipeline.
const TileSize = 64 * unit.KiB

const (
	unsizedTiles = 4
	maxTiles     = 1 << 13
)

// Read reads trees as an all-gather, or as the kind in Options.As: a reduce-scatter or an
// all-reduce.
func Read(r io.Reader, o foreign.Options) (*foreign.File, error) {
	d := newDecoder(r, o.File)
	if err := d.read(); err != nil {
		return nil, err
	}
	f, err := d.forest()
	if err != nil {
		return nil, err
	}
	wrong := func(err error) error { return &foreign.Error{File: o.File, Text: err.Error()} }
	spec, tiles, err := f.size(o)
	if err != nil {
		return nil, wrong(err)
	}
	plan := transfers.Plan{Name: "forestcoll", Spec: spec, Tiles: tiles}
	f.plan(&plan)
	low, err := transfers.Lower(plan)
	if err != nil {
		return nil, wrong(err)
	}
	return &foreign.File{Format: "forestcoll", Schedule: low.Schedule, Notes: f.notes(tiles),
		Found: f.found(spec.Kind),
		Sizes: fmt.Sprintf("every size: a block is cut into %d chunks, the first ones larger",
			f.chunks),
		Where: func(rank, lane, step int) foreign.Place { return f.place(low, rank, lane, step) },
	}, nil
}

// size returns the problem and the number of tiles.
func (f *forest) size(o foreign.Options) (collective.Spec, int32, error) {
	kind, ranks := collective.AllGather, len(f.names)
	if o.As != 0 {
		kind = o.As
	}
	switch kind {
	case collective.AllGather, collective.ReduceScatter, collective.AllReduce:
	default:
		return collective.Spec{}, 0, fmt.Errorf("ForestColl's trees cannot be taken as %v: "+
			"all_gather, reduce_scatter or all_reduce is expected", kind)
	}
	spec, err := o.Spec(kind, ranks, int64(ranks)*int64(f.chunks)*unsizedTiles, false)
	if err != nil || o.Count == 0 && o.Bytes == 0 {
		return spec, unsizedTiles, err
	}
	block := spec.Count
	if kind == collective.AllReduce {
		block /= int64(ranks)
	}
	chunk := block / int64(f.chunks)
	size := int64(TileSize) / int64(spec.Type.Width())
	return spec, int32(max(1, min((chunk+size-1)/size, maxTiles))), nil
}

// place returns the send that a step of the schedule belongs to.
func (f *forest) place(low *transfers.Lowered, rank, lane, step int) foreign.Place {
	p := foreign.Place{Block: -1, Step: -1}
	m, tile := low.Move(rank, lane, step)
	switch {
	case m == nil:
		return p
	case m.Item < 0:
		p.Text = fmt.Sprintf("the copy of rank %d's input to its output", rank)
		return p
	}
	e := &f.edges[m.Item]
	t := &f.trees[e.tree]
	p.Line = e.line
	p.Text = fmt.Sprintf("tree %d of %s: %s to %s, tile %d", t.index, f.names[t.root],
		f.names[e.from],
		f.names[e.to], tile)
	return p
}

// notes lists remarks on the file.
func (f *forest) notes(tiles int32) []string {
	highest := 0
	var notes []string
	for i := range f.trees {
		t := &f.trees[i]
		highest = max(highest, t.levels)
		if t.levels != t.height && len(notes) < 20 {
			notes = append(notes, fmt.Sprintf("line %d: tree %d of %s says it has height %d; it has %d",
				t.line, t.index, f.names[t.root], t.height, t.levels))
		}
	}
	return append([]string{fmt.Sprintf("%d trees on %d ranks, at most %d high, %d chunks a rank in "+
		"%d tiles", len(f.trees), len(f.names), highest, f.chunks, tiles)}, notes...)
}
