package hlo

import (
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
)

// target returns the name of a custom call, without quotes; empty for other instructions.
func (i *instr) target() string {
	text, _ := i.attr("custom_call_target")
	return strings.Trim(text, `"`)
}

// library returns the matmuls of calls of libraries that are known: of cuBLAS, convolutions and
// attention of cuDNN, and attention of Transformer Engine.
func (e *emitter) library(c *computation, i *instr) ([]Op, error) {
	switch target := i.target(); {
	case strings.HasPrefix(target, "__cublas$"):
		return e.cublas(c, i)
	case strings.HasPrefix(target, "__cudnn$conv"):
		return e.cudnnConvolution(c, i)
	case strings.HasPrefix(target, "__cudnn$fmha"):
		return e.cudnnAttention(c, i)
	case strings.HasPrefix(target, "te_fused_attn_"):
		return e.transformerEngine(c, i)
	}
	return nil, nil
}

// annotates reports whether a custom call only says something of a value, or makes room for one.
func annotates(target string) bool {
	switch target {
	case "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "CustomSPMDPartitioning",
		"annotate_device_placement", "AllocateBuffer", "CreateBuffer", "LayoutConstraint",
		"xla.sdy.FuncResultSharding", "xla.sdy.LocalToGlobalShape", "xla.sdy.GlobalToLocalShape",
		"NewToken", "AssumeGatherIndicesInBound", "PinToDevice":
		return true
	}
	return false
}

// dotNumbers are the axes of a dot (xla_data.proto, DotDimensionNumbers).
type dotNumbers struct {
	A  []string `json:"lhs_contracting_dimensions"`
	B  []string `json:"rhs_contracting_dimensions"`
	AB []string `json:"lhs_batch_dimensions"`
	BB []string `json:"rhs_batch_dimensions"`
}

// texts returns the axes as attributes have them.
func (d *dotNumbers) texts() [4]string {
	list := func(words []string) string { return "{" + strings.Join(words, ",") + "}" }
	return [4]string{list(d.A), list(d.B), list(d.AB), list(d.BB)}
}

// cublas returns the matmul of a call of cuBLAS (xla/service/gpu/cublas_cudnn.h).
func (e *emitter) cublas(c *computation, i *instr) ([]Op, error) {
	var config struct {
		Numbers *dotNumbers `json:"dot_dimension_numbers"`
		Gemm    struct {
			Numbers *dotNumbers `json:"dot_dimension_numbers"`
		} `json:"gemm_backend_config"`
	}
	err := backendConfig(i, &config)
	d := config.Gemm.Numbers
	if d == nil {
		d = config.Numbers
	}
	if err != nil || d == nil {
		return nil, e.fail(i, "a call of cuBLAS without dot_dimension_numbers in its backend_config")
	}
	return e.dot(c, i, d.texts())
}

// cudnnConvolution returns the matmul of a convolution of cuDNN: forward, or one of the backward
// ones, which have the labels of the forward one.
func (e *emitter) cudnnConvolution(c *computation, i *instr) ([]Op, error) {
	result := i.shape.arrays()
	if len(i.operands) < 2 || len(result) == 0 {
		return nil, e.fail(i, "two operands and a result are expected of a convolution")
	}
	a, b := &c.instrs[i.operands[0]].shape, &c.instrs[i.operands[1]].shape
	switch i.target() {
	case "__cudnn$convBackwardInput":
		return e.convolve(i, [3]*shape{result[0], b, a})
	case "__cudnn$convBackwardFilter":
		return e.convolve(i, [3]*shape{a, result[0], b})
	}
	return e.convolve(i, [3]*shape{a, b, result[0]})
}

// Heads describes attention: so many heads, of all batches, each of queries by keys, both with so
// many features.
type Heads struct {
	Count, Queries, Keys, Features int64
	Backward, Causal               bool // of causal attention half of the keys count
}

// Matmul returns the operands of one matmul that has the operations and the bytes of attention that
// keeps its scores on chip, as FlashAttention does: keys × 2·heads·features times queries, in a
// backward pass 5·heads·features. They are nil where there is nothing to do.
//
// Dao et al., FlashAttention, 2022: 4·heads·queries·keys·features operations, 2.5 times as many
// backward. The products read queries and results, or keys and values, and their gradients.
func (h Heads) Matmul(t dtype.Type) []Tensor {
	products, keys := int64(2), h.Keys
	if h.Backward {
		products = 5
	}
	if h.Causal {
		keys = (keys + 1) / 2
	}
	m := products * h.Count * h.Features
	if m == 0 || keys == 0 || h.Queries == 0 {
		return nil
	}
	return []Tensor{{t, collective.Shape{m, keys}}, {t, collective.Shape{keys, h.Queries}}}
}

// attention returns attention as a matmul.
func (e *emitter) attention(i *instr, elem string, h Heads) ([]Op, error) {
	t, per := mathType(elem)
	if per != 1 || !t.IsFloat() {
		return nil, e.fail(i, "attention of %s is not read", elem)
	}
	e.note("attention is taken for a matmul of as many operations, and of the bytes that it reads " +
		"and writes where its scores stay on chip")
	if operands := h.Matmul(t); operands != nil {
		return []Op{{Tensors: operands, Out: t}}, nil
	}
	return nil, nil
}

// cudnnAttention returns the matmul of attention of cuDNN, whose config has the shape of the
// scores: batches, heads, queries, keys.
func (e *emitter) cudnnAttention(c *computation, i *instr) ([]Op, error) {
	var config struct {
		Attention struct {
			Scores struct {
				Lengths []string `json:"dimensions"`
			} `json:"intermediate_tensor_shape"`
			Mask string `json:"mask_type"`
		} `json:"cudnn_fmha_backend_config"`
	}
	err := backendConfig(i, &config)
	lengths, wrong := wholes(strings.Join(config.Attention.Scores.Lengths, ","))
	if err != nil || wrong != nil || len(lengths) != 4 || len(i.operands) == 0 {
		return nil, e.fail(i, "attention of cuDNN without the four dimensions of its "+
			"intermediate_tensor_shape in backend_config")
	}
	queries := &c.instrs[i.operands[0]].shape
	h := Heads{Count: lengths[0] * lengths[1], Queries: lengths[2], Keys: lengths[3],
		Backward: strings.Contains(i.target(), "Backward"),
		Causal:   strings.Contains(config.Attention.Mask, "CAUSAL")}
	h.Features = queries.dims.Elements() / max(h.Count*h.Queries, 1)
	return e.attention(i, queries.elem, h)
}

// transformerEngine returns the matmul of attention of Transformer Engine, whose config is a list
// of attributes of MLIR: "attn_heads = 32 : i64". Masks from 2 on are causal (NVTE_Mask_Type).
func (e *emitter) transformerEngine(c *computation, i *instr) ([]Op, error) {
	text, _ := i.attr("backend_config")
	if len(i.operands) == 0 {
		return nil, e.fail(i, "attention without an operand")
	}
	values := map[string]int64{}
	for _, item := range split(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")) {
		name, value, _ := strings.Cut(item, " = ")
		value, _, _ = strings.Cut(value, " : ")
		if n, err := strconv.ParseInt(value, 10, 32); err == nil && n >= 0 {
			values[name] = n
		}
	}
	h := Heads{Count: values["input_batch"] * values["attn_heads"], Queries: values["q_max_seqlen"],
		Keys: values["kv_max_seqlen"], Features: values["qk_head_dim"],
		Backward: strings.Contains(i.target(), "backward"), Causal: values["mask_type"] >= 2}
	if h.Features == 0 { // of older releases
		h.Features = values["head_dim"]
	}
	if h.Count == 0 || h.Queries == 0 || h.Keys == 0 || h.Features == 0 {
		return nil, e.fail(i, "attention of Transformer Engine without input_batch, attn_heads, "+
			"q_max_seqlen, kv_max_seqlen and qk_head_dim in its backend_config")
	}
	return e.attention(i, c.instrs[i.operands[0]].shape.elem, h)
}
