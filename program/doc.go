// Package program describes compute and collectives together: ops on tensors, which passes lower to
// one schedule of parts. Its pipelines are schedules on two streams that fuse a matmul with the
// collective before or after it.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	program: program.go lookup.go folded.go waitop.go list.go resolve.go layer.go shard.go uses.go
//	gradients: gradient.go gradientkernel.go gradientnone.go gradientop.go gradientorder.go
//	  gradientsum.go
//	order: interleave.go order.go
//	lowering: plan.go lower.go lowering.go meaning.go kernelpart.go callpart.go
//	memory: history.go memory.go layout.go realise.go register.go inplace.go
//	pipelines: waits.go pipeline.go gather.go scatter.go
//	passes: periods.go together.go merge.go reorder.go reuse.go oneshot.go stage.go chain.go fuse.go
//	  piped.go
package program
