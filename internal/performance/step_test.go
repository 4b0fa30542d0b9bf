package performance

import (
	"fmt"
	"slices"
	"strings"
)

// A step is a training step of a model of the sizes of Llama 3 405B (Grattafiori et al., "The Llama
// 3 herd of models", 2024, table 3) on DGX H100: tensor and sequence parallelism in a node,
// interleaved 1F1B of stages with several chunks each, and replicas with ZeRO-1, which
// reduce_scatter the gradients, take Adam's step on their part of the weights, and gather them.
type step struct {
	model
	chunks int // of the model, on each stage
	tokens int // of a microbatch, on each GPU
}

const (
	hidden, feedForward      = 16384, 53248
	heads, kvHeads, headSize = 128, 8, 128
)

// weights has the weights of a layer on a GPU, and their shapes.
var weights = []struct {
	name  string
	shape []int
}{
	{"na", []int{hidden}}, {"wq", []int{hidden, (heads + 2*kvHeads) * headSize / width}},
	{"wo", []int{hidden / width, hidden}}, {"nb", []int{hidden}},
	{"wg", []int{hidden, feedForward / width}}, {"wu", []int{hidden, feedForward / width}},
	{"wd", []int{feedForward / width, hidden}},
}

// layerOps has the ops of a layer: what each does, to what, and its result. x is what the layer is
// given, and y its result.
var layerOps = [][]string{
	{`kernel = "rms_norm"`, "a", "x", "na"}, {gathers, "b", "a"},
	{`kernel = "matmul"`, "c", "b", "wq"},
	{fmt.Sprintf("kernel = \"attention heads=%d kv_heads=%d causal\"", heads/width, kvHeads/width),
		"d", "c"},
	{`kernel = "matmul"`, "e", "d", "wo"}, {scatters, "f", "e"}, {`kernel = "add"`, "g", "f", "x"},
	{`kernel = "rms_norm"`, "h", "g", "nb"}, {gathers, "j", "h"},
	{`kernel = "matmul"`, "k", "j", "wg"}, {`kernel = "matmul"`, "l", "j", "wu"},
	{`kernel = "swiglu"`, "m", "k", "l"}, {`kernel = "matmul"`, "n", "m", "wd"},
	{scatters, "o", "n"}, {`kernel = "add"`, "y", "o", "g"},
}

const (
	gathers  = "call = \"all_gather\"\nalgorithm = \"ring\""
	scatters = "call = \"reduce_scatter\"\nalgorithm = \"ring\""
	sends    = "call = \"broadcast\"\nalgorithm = \"flat\"\nasync = true"
)

// text writes the scenario of a step.
func (s step) text() string {
	var b strings.Builder
	var names []string
	for stage := range s.stages {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint("s", stage)))
	}
	fmt.Fprintf(&b, "[topology]\npreset = \"dgx-h100\"\nnodes = %d\n[check]\nnumbers = false\n"+
		"[lowering]\nreuse = true\n[program]\ngradient = \"full\"\norder = \"interleaved-1f1b\"\n"+
		"stages = [%s]\n", s.stages*s.replicas, strings.Join(names, ", "))
	s.groups(&b)
	s.tensor(&b, "x0_{i}", []int{s.tokens, hidden}, fmt.Sprintf("repeat = %d\ngradient = false\n",
		s.microbatches))
	on, layers := "x0_{i}", s.layersOfStages()
	for i, l := range layers {
		on = s.layer(&b, l, on)
		if i+1 < len(layers) && layers[i+1].chunk > l.chunk {
			out, to := fmt.Sprintf("z%d_{i}", l.chunk), fmt.Sprint("to", l.stage)
			s.op(&b, fmt.Sprint("send ", l.chunk), sends+fmt.Sprintf("\nstream = %q", to), to, out, on)
			on = out
		}
	}
	s.update(&b)
	return b.String()
}

// groups writes the ranks of each stage, node by node, those that a stage sends to, and replicas.
func (s step) groups(b *strings.Builder) {
	rank := func(replica, stage, k int) int { return (replica*s.stages+stage)*width + k }
	group := func(name string, stage, teams, size int, of func(team, seat int) int) {
		var text []string
		for team := range teams {
			var ranks []string
			for seat := range size {
				ranks = append(ranks, fmt.Sprint(of(team, seat)))
			}
			text = append(text, "["+strings.Join(ranks, ", ")+"]")
		}
		fmt.Fprintf(b, "[[program.group]]\nname = \"%s%d\"\nranks = [%s]\n", name, stage,
			strings.Join(text, ", "))
	}
	for stage := range s.stages {
		group("s", stage, s.replicas, width, func(team, seat int) int { return rank(team, stage, seat) })
		group("dp", stage, width, s.replicas, func(team, seat int) int { return rank(seat, stage, team) })
		group("to", stage, s.replicas*width, 2, func(team, seat int) int {
			return rank(team/width, (stage+seat)%s.stages, team%width)
		})
	}
}

// tensor writes a tensor.
func (s step) tensor(b *strings.Builder, name string, shape []int, more string) {
	fmt.Fprintf(b, "[[program.tensor]]\nname = %q\nshape = [%s]\ndtype = \"bfloat16\"\n%s", name,
		strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]"), more)
}

// layer writes the weights and the ops of a layer, and returns its result.
func (s step) layer(b *strings.Builder, l layerOfStage, on string) string {
	for _, w := range weights {
		s.tensor(b, fmt.Sprint(w.name, l.number), w.shape, "")
	}
	named := func(name string) string {
		switch {
		case name == "x":
			return on
		case len(name) == 2:
			return fmt.Sprint(name, l.number)
		}
		return fmt.Sprintf("%s%d_{i}", name, l.number)
	}
	for _, op := range layerOps {
		var in []string
		for _, name := range op[2:] {
			in = append(in, named(name))
		}
		s.op(b, fmt.Sprintf("%s %d", op[1], l.number), op[0], fmt.Sprint("s", l.stage), named(op[1]),
			in...)
	}
	return named("y")
}

// update writes what replicas do with the gradients of all weights, last layer first, and Adam's
// step.
func (s step) update(b *strings.Builder) {
	for _, layer := range slices.Backward(s.layersOfStages()) {
		for _, w := range slices.Backward(weights) {
			name := fmt.Sprint(w.name, layer.number)
			s.once(b, "sum "+name, "call = \"reduce_scatter avg\"\nalgorithm = \"ring\"\n"+besides,
				fmt.Sprint("dp", layer.stage), name+"_g", name+"_grad")
		}
	}
	for _, layer := range s.layersOfStages() {
		for _, w := range weights {
			name, shard := fmt.Sprint(w.name, layer.number), slices.Clone(w.shape)
			shard[0] /= s.replicas
			for _, state := range []string{"_m", "_v", "_p"} {
				s.tensor(b, name+state, shard, "gradient = false\n")
			}
			group := fmt.Sprint("s", layer.stage)
			s.once(b, "m "+name, `kernel = "adam_m"`, group, name+"_m1", name+"_m", name+"_g")
			s.once(b, "v "+name, `kernel = "adam_v"`, group, name+"_v1", name+"_v", name+"_g")
			s.once(b, "step "+name, `kernel = "adam lr=0.0003"`, group, name+"_p1", name+"_p", name+"_m1",
				name+"_v1")
			s.once(b, "gather "+name, gathers+"\n"+besides, fmt.Sprint("dp", layer.stage), name+"_new",
				name+"_p1")
		}
	}
}

// besides has a call run on a stream of its own.
const besides = "stream = \"dp\"\nasync = true"

// A layerOfStage is a layer and where it is.
type layerOfStage struct{ number, chunk, stage int }

// layersOfStages lists all layers.
func (s step) layersOfStages() (list []layerOfStage) {
	chunks := s.stages * s.chunks
	for chunk := range chunks {
		for len(list) < s.layers*(chunk+1)/chunks {
			list = append(list, layerOfStage{len(list), chunk, chunk % s.stages})
		}
	}
	return list
}

// once writes an op that is not repeated.
func (s step) once(b *strings.Builder, name, does, group, out string, in ...string) {
	fmt.Fprintf(b, "[[program.op]]\nname = %q\n%s\nin = [%s]\nout = %q\ngroup = %q\n", name, does,
		`"`+strings.Join(in, `", "`)+`"`, out, group)
}
