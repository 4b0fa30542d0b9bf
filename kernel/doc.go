// Package kernel defines the operations that a GPU computes between collectives. An Op is an
// operation with its shapes and types as comparable plain data, and a text form that Parse reads.
// It has one meaning for proofs, numbers, virtual time and real execution. Operands and Output
// describe its tensors, FLOPs and Bytes its cost. Blocks and Block are the grid that a GPU cuts it
// into, and the operands of each block. Apply computes its result, bit for bit. The package knows
// no device, no schedule and no buffer.
//
//	matmul m=8192 k=4096 n=1024 bfloat16*bfloat16->bfloat16
//	matmul m=8192 k=1024 n=4096 bfloat16*bfloat16->bfloat16 transpose=b
//	matmul m=2x4096 k=4096 n=1024 float16*float16->float32
//	scaled_matmul m=64 k=32 n=16 float8_e4m3fn*float8_e5m2->bfloat16 row-wise bias=bfloat16
//	scaled_matmul m=64 k=32 n=16 float8_e4m3fn*float8_e4m3fn->float8_e4m3fn tensor-wise result-scale
//	add 8x1024 bfloat16+float32->bfloat16
//	cast 8x1024 float32->float8_e4m3fn
//	sum 4x8x1024 axis=0 bfloat16->bfloat16
//	mean 4x8x1024 axis=2 float32->float32
//	move 4x8x1024 axis=1 bfloat16->bfloat16
//	expand 8x1024 axis=0 times=4 bfloat16->bfloat16
//	scale 8x1024 by=0.125 bfloat16->bfloat16
//	attention 64x96:bfloat16->64x32:bfloat16 heads=4 causal
//	opaque 150 us
//	opaque 64x96:bfloat16+96:float32->64x32:bfloat16 flops=2e+12 bytes=3e+09
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	elements: elements.go numbers.go
//	operations: op.go new.go components.go text.go validate.go blocks.go apply.go multiply.go
//	  tile_other.go tile_amd64.go approx.go layer.go bound.go layertext.go layercheck.go opaque.go
//	  attention.go norm.go activation.go softmax.go embedding.go route.go shard.go pad.go
//	  optimizer.go *bound.go
//
// # Arithmetic
//
// Floats are computed in float32, or in float64 if an operand has that type. Every product, sum and
// quotient is rounded to it, in the order given here, and nothing is fused. The result is rounded
// once more, to the type of the output, as dtype.Narrow does: 8-bit floats saturate, and every NaN
// is the one of its type. Integers are exact, modulo two to the bits of the output, as they wrap on
// the device. An operation has floats or integers, and only cast converts between them. Complex
// numbers are computed component by component: add, sum, mean, scale, move, expand, and cast to
// complex numbers take them. Bools are moved, expanded and cast: what is not 0 becomes 1.
//
//	matmul          out[i,j] = ((0 + a[i,0]·b[0,j]) + a[i,1]·b[1,j]) + …, k ascending;
//	                a transposed operand is stored as [k, m] or [n, k], and multiplied as others
//	scaled_matmul   the same, then · scale_a, · scale_b, + bias[j], · scale_result
//	add             a + b
//	cast            the value, rounded once; to an integer as dtype.From does, to nearest and no
//	                further than its range (PyTorch truncates); integer to integer wraps
//	sum             (x[0] + x[1]) + …, ascending along the axis; of no elements 0
//	move            the same bits, the axis in front: a copy into another layout
//	expand          the same bits, once for each position on the new axis
//	scale           a · the number, which is rounded to the type of the products before
//	mean            sum, divided by the number; integers truncate
//
// A GPU adds the products of a matmul in an unpublished order and width; this order is the
// definition to which others are compared. Sum begins with its first element, as a collective does.
// So a sum over the axis of ranks has the bits of a reduction in rank order that accumulates in
// float32. Mean has those of its post-divided average.
//
// Layers also have bounds: how far what another implementation computes may be from the result
// (bound.go, approx.go, and a file beside each layer's).
//
// Layers of neural networks (attention, norms, activations, losses, steps of optimizers) are rows
// of a table, a file or so each, which has their formulas, costs and gradients. They are computed
// in float64, in the order that is given there, and rounded once; exp and the like are sums and
// products of our own (numbers.go), so that every processor gives the same bits. A gradient is an
// operation of the same kind, with the gradient of the result as one more operand. An opaque
// operation that lists operands writes a stand-in: nobody knows its result (opaque.go).
//
// # Scaled matmul
//
// The operation is torch._scaled_mm's (aten/src/ATen/native/cuda/ScaledBlas.cpp). Operands are
// 8-bit floats, not both float8_e5m2. Scales are float32, tensor-wise (one each) or row-wise (one a
// row of A and one a column of B). A bias is of float16 or bfloat16, and of the output's type if
// that is one of them; there is none with float32. Row-wise scales give 16 bits or 32. A result
// scale is for outputs of 8 bits: PyTorch applies it to these and ignores it for others, where this
// package refuses it. Requirements of the hardware alone (sizes divisible by 16, a column-major B)
// are not checked.
package kernel
