package msccl

import (
	"fmt"
	"io"
	"strings"

	"collsim/collective"
	"collsim/formats/internal/foreign"
)

// Read reads an MSCCL XML file of any dialect and lowers it. Thread block b of GPU g is lane b of
// rank g. The runtime's loop over tiles becomes a loop of the schedule, whose cuts have as many
// tiles. It returns a *foreign.Error for a file that the runtimes' parsers refuse. It also returns
// one where the runtimes fall back to NCCL's own algorithms, such as for a count that the chunks do
// not divide.
func Read(r io.Reader, o foreign.Options) (*foreign.File, error) {
	if o.File == "" {
		o.File = "msccl"
	}
	program, s, err := parse(r, o.File)
	if err != nil {
		return nil, err
	}
	return lower(program, s, &o)
}

// lower makes a schedule of a parsed file.
func lower(program *program, s *scanner, o *foreign.Options) (*foreign.File, error) {
	l := &lowering{scanner: s, program: program, options: o, ranks: program.ranks}
	for _, step := range []func() error{l.settle, l.build} {
		if err := step(); err != nil {
			return nil, s.wrap(err)
		}
	}
	made, err := l.assemble()
	if err != nil {
		return nil, s.wrap(err)
	}
	return &foreign.File{Format: "msccl", Name: program.name, Schedule: made, Where: l.where(),
		Found: l.found(), Sizes: l.sizes(), Ranges: l.ranges(), Notes: l.notes()}, nil
}

// kindOf returns the collective of a label; Custom for labels without a definition.
func kindOf(label string) (collective.Kind, bool) {
	all := labels()
	for i := range all {
		if all[i].name == label {
			return all[i].kind, true
		}
	}
	return 0, false
}

type label struct {
	name string
	kind collective.Kind
}

// labels lists the labels of Microsoft and RCCL. RCCL's send and recv have no definition: they are
// Custom.
func labels() []label {
	return []label{{"allreduce", collective.AllReduce}, {"allgather", collective.AllGather},
		{"reduce_scatter", collective.ReduceScatter}, {"reducescatter", collective.ReduceScatter},
		{"reduce", collective.Reduce}, {"broadcast", collective.Broadcast},
		{"alltoall", collective.AllToAll}, {"gather", collective.Gather},
		{"scatter", collective.Scatter}, {"alltoallv", collective.AllToAllV},
		{"custom", collective.Custom}, {"send", collective.Custom}, {"recv", collective.Custom}}
}

// settle determines the problem from file and options: kind, sizes, protocol, runtime.
func (l *lowering) settle() (err error) {
	g, o := l.program, l.options
	if l.runtime, err = findRuntime(o.Runtime); err != nil {
		return err
	}
	name := g.protocol
	if o.Protocol != "" {
		name = o.Protocol
	}
	if l.protocol, err = findProtocol(name); err != nil {
		return err
	}
	kind, known := kindOf(g.coll)
	if !known {
		names := make([]string, len(labels()))
		for i, n := range labels() {
			names[i] = n.name
		}
		err := l.fail(0, "coll=\"%.40s\": one of %s is expected", g.coll, strings.Join(names, ", "))
		err.Hint = meant(g.coll, names)
		return err
	}
	if err := l.checkChunks(kind); err != nil {
		return err
	}
	parts := int64(g.chunks)
	if l.runtime.perRank && inBlocks(kind, o.As) {
		parts *= int64(g.ranks)
	}
	custom := kind == collective.Custom || o.As == collective.Custom
	if l.spec, err = o.Spec(kind, g.ranks, parts, g.inPlace && !custom); err != nil {
		return err
	}
	if l.spec.Kind == collective.Barrier || l.spec.Kind == collective.SendRecv {
		return l.fail(0, "as %v: the runtimes have no such collective", l.spec.Kind)
	}
	if err := l.checkCall(); err != nil {
		return err
	}
	return l.size()
}

// inBlocks reports whether the file's kind, or the one that replaces it, has a block for every
// rank.
func inBlocks(label, as collective.Kind) bool {
	if as != 0 {
		label = as
	}
	return label.Gathers() || label.Scatters() || label == collective.AllToAll
}

// checkChunks compares the chunks of every GPU with those of a loop, as Microsoft's parser does.
func (l *lowering) checkChunks(label collective.Kind) error {
	g := l.program
	times := [numBuffers]int64{input: 1, output: 1}
	switch label {
	case collective.AllGather:
		times[input] = int64(g.ranks)
	case collective.ReduceScatter:
		times[output] = int64(g.ranks)
	}
	for i := range g.gpus {
		for _, b := range []buffer{input, output} {
			n := int64(g.gpus[i].chunks[b])
			if !l.runtime.exactChunks || n == 0 || n*times[b] == int64(g.chunks) {
				continue
			}
			text := fmt.Sprintf("%s_chunks=\"%d\" of gpu %d: %d times that, or 0, must be "+
				"nchunksperloop=\"%d\"", bufferNames[b], n, g.gpus[i].id, times[b], g.chunks)
			if label != collective.Custom {
				return l.fail(int(g.gpus[i].line), "%s", text)
			}
			if l.odd == "" {
				l.odd = fmt.Sprintf("line %d: %s: Microsoft's parser refuses the file", g.gpus[i].line,
					text)
			}
		}
	}
	return nil
}

// checkCall refuses calls that the runtimes leave to NCCL: operators that they have not, and a mode
// (in place or not) that the file does not support.
func (l *lowering) checkCall() error {
	g, spec := l.program, &l.spec
	if !carriesOut(spec.Op) {
		return l.fail(0, "op %v: the runtimes carry out sum, prod, min and max; others they leave "+
			"to NCCL", spec.Op)
	}
	if l.options.Place == foreign.AsFile || l.runtime.name == "none" {
		return nil
	}
	legal, attribute := g.inPlace, "inplace"
	if !spec.InPlace {
		legal, attribute = !g.inPlace, "inplace"
		if g.modes {
			legal, attribute = g.outOfPlace, "outofplace"
		}
	}
	if !legal {
		value := 0
		if g.inPlace && attribute == "inplace" {
			value = 1
		}
		return l.fail(0, "a call %s: the file is not for it (%s=\"%d\"), and the runtime falls back "+
			"to NCCL", mode(spec.InPlace), attribute, value)
	}
	return nil
}

func mode(inPlace bool) string {
	if inPlace {
		return "in place"
	}
	return "out of place"
}

// size determines the elements of a chunk, of a tile and of a transfer.
func (l *lowering) size() error {
	chunks, width := int64(l.program.chunks), int64(l.spec.Type.Width())
	whole, counted := l.whole(), l.whole()
	if l.runtime.perRank && l.spec.Kind != collective.Custom {
		counted = l.spec.Count
	}
	if whole == 0 || counted%chunks != 0 {
		return l.fail(0, "%d elements%s: %d chunks must divide them, otherwise the runtime falls "+
			"back to NCCL; %d would do", counted, l.counted(), chunks,
			max(chunks, counted/chunks*chunks))
	}
	l.chunk = whole / chunks
	l.tile = l.protocol.bytes / width
	l.tiles = (l.chunk + l.tile - 1) / l.tile
	if l.tiles > maxTiles {
		return l.fail(0, "%d tiles of %d bytes a chunk, more than this reader takes: a smaller size is "+
			"expected", l.tiles, l.protocol.bytes)
	}
	l.piece = int32(max(1, min(maxCount-1, l.protocol.bytes/(l.chunk*width))))
	if l.spec.Kind == collective.Custom {
		l.spec.Splits = [][]int64{make([]int64, l.ranks), make([]int64, l.ranks)}
		for i := range l.program.gpus {
			l.spec.Splits[0][i] = int64(l.program.gpus[i].chunks[input]) * l.chunk
			l.spec.Splits[1][i] = int64(l.program.gpus[i].chunks[output]) * l.chunk
		}
	}
	return l.spec.Validate()
}

// counted names the elements that chunks must divide.
func (l *lowering) counted() string {
	if l.runtime.perRank && inBlocks(l.spec.Kind, 0) {
		return " of a rank (RCCL takes the count of the call)"
	}
	return ""
}

// whole returns the elements of the vector that the chunks of a loop divide.
func (l *lowering) whole() int64 {
	switch {
	case l.spec.Kind == collective.Custom:
		return l.options.Whole(collective.Custom, l.ranks, int64(l.program.chunks))
	case inBlocks(l.spec.Kind, 0):
		return l.spec.Count * int64(l.ranks)
	}
	return l.spec.Count
}

// sizes describes the sizes that the runtime accepts.
func (l *lowering) sizes() string {
	chunks := int64(l.program.chunks)
	return fmt.Sprintf("every size that %d chunks of %v (%d bytes)%s divide; for others the runtime "+
		"falls back to NCCL", chunks, l.spec.Type, chunks*int64(l.spec.Type.Width()), l.counted())
}
