package hw

import (
	"fmt"

	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// A rank's input is several buffers one after the other: its input, then the given tensors in the
// order of Schedule.Tensors. Likewise a rank's output: its output, then the results.

// InputBuffers lists the buffers of a rank's input.
func InputBuffers(s *schedule.Schedule) []schedule.Buffer {
	return buffersOf(s, schedule.Input, schedule.Role.IsGiven)
}

// OutputBuffers lists the buffers of a rank's output.
func OutputBuffers(s *schedule.Schedule) []schedule.Buffer {
	return buffersOf(s, schedule.Output, schedule.Role.IsResult)
}

// buffersOf lists a buffer and the tensors of some roles.
func buffersOf(s *schedule.Schedule, first schedule.Buffer,
	is func(schedule.Role) bool) []schedule.Buffer {
	list := []schedule.Buffer{first}
	for i := range s.Tensors {
		if is(s.Tensors[i].Role) {
			list = append(list, schedule.FirstTensor+schedule.Buffer(i))
		}
	}
	return list
}

// BufferBytes returns the size of a rank's buffer in bytes; 0 for a tensor that only the definition
// names.
func BufferBytes(s *schedule.Schedule, b schedule.Buffer, rank int) int64 {
	t := s.Tensor(b)
	if t == nil {
		return s.Len(b, rank) * int64(s.SpecOf(rank).Type.Width())
	}
	if t.Role == schedule.Defined {
		return 0
	}
	return s.Len(b, rank) * int64(t.Type.Width())
}

// InputBytes returns the size of a rank's input in bytes, given tensors included.
func InputBytes(s *schedule.Schedule, rank int) (n int64) {
	for _, b := range InputBuffers(s) {
		n += BufferBytes(s, b, rank)
	}
	return n
}

// OutputBytes returns the size of a rank's output in bytes, results included.
func OutputBytes(s *schedule.Schedule, rank int) (n int64) {
	for _, b := range OutputBuffers(s) {
		n += BufferBytes(s, b, rank)
	}
	return n
}

// checkTensors checks the number and the sizes of a job's given tensors.
func (j *Job) checkTensors() error {
	s := j.Schedule
	if len(j.Tensors) != len(s.Tensors) {
		return fmt.Errorf("values of %d tensors: %d are expected", len(j.Tensors), len(s.Tensors))
	}
	for _, b := range InputBuffers(s)[1:] {
		values, name := j.Tensors[b-schedule.FirstTensor], s.BufferName(b)
		if len(values) != s.Spec.Ranks {
			return fmt.Errorf("tensor %s of %d ranks: %d are expected", name, len(values),
				s.Spec.Ranks)
		}
		for rank, v := range values {
			if want := BufferBytes(s, b, rank); int64(len(v)) != want {
				return fmt.Errorf("tensor %s has %d bytes on rank %d: %d are expected", name, len(v),
					rank, want)
			}
		}
	}
	return nil
}

// Given returns the input of every rank, given tensors included. REQUIRES: Check.
func (j *Job) Given() [][]byte {
	if len(j.Tensors) == 0 {
		return j.Inputs
	}
	all := make([][]byte, j.Schedule.Spec.Ranks)
	for rank := range all {
		if j.Inputs != nil {
			all[rank] = append(all[rank], j.Inputs[rank]...)
		}
		for _, b := range InputBuffers(j.Schedule)[1:] {
			all[rank] = append(all[rank], j.Tensors[b-schedule.FirstTensor][rank]...)
		}
	}
	return all
}

// Take splits the output of every rank into outputs and results.
func (r *Result) Take(s *schedule.Schedule, all [][]byte) {
	if r.Outputs = all; len(s.Tensors) == 0 {
		return
	}
	r.Outputs, r.Tensors = make([][]byte, len(all)), make([][][]byte, len(s.Tensors))
	for rank, rest := range all {
		n := BufferBytes(s, schedule.Output, rank)
		r.Outputs[rank], rest = rest[:n:n], rest[n:]
		for _, b := range OutputBuffers(s)[1:] {
			n := BufferBytes(s, b, rank)
			i := b - schedule.FirstTensor
			r.Tensors[i], rest = append(r.Tensors[i], rest[:n:n]), rest[n:]
		}
	}
}

// OfType returns the arithmetic of a step's collective in another type.
func OfType(s *schedule.Schedule, where schedule.Spot, t dtype.Type) Arithmetic {
	spec := *s.SpecAt(where)
	spec.Type = t
	return ArithmeticOf(&spec)
}

// A matmul computes maxRowFLOPs operations between two checks whether to go on, but at least
// minRows rows: each piece reads all of B again.
const (
	maxRowFLOPs = 1 << 29
	minRows     = 64
)

// Compute computes a kernel, bit for bit as kernel.Apply does. It calls goesOn now and then, and
// ends with its error. Only matmuls are computed in pieces, since their rows are independent of one
// another; a transposed A is not.
func Compute(op kernel.Op, operands [][]byte, goesOn func() error) ([]byte, error) {
	if op.Validate() != nil || !op.IsMatmul() || op.TransposeA ||
		len(operands) != len(op.Operands()) ||
		op.FLOPs() <= maxRowFLOPs {
		return kernel.Apply(op, operands)
	}
	result := make([]byte, 0, op.Written())
	m := op.M()
	each := max(minRows, maxRowFLOPs/max(op.FLOPs()/m, 1))
	for row := int64(0); row < m; row += each {
		if err := goesOn(); err != nil {
			return nil, err
		}
		some, own := op, append([][]byte{}, operands...)
		rows := min(each, m-row)
		some.In = kernel.ShapeOf(rows, op.K())
		for i, t := range op.Operands() {
			if t.Name == "a" || t.Name == "scale_a" && op.Scaling == kernel.RowWise {
				one := t.Bytes() / m
				if int64(len(operands[i])) != t.Bytes() {
					return kernel.Apply(op, operands) // fails with the reason
				}
				own[i] = operands[i][row*one : (row+rows)*one]
			}
		}
		part, err := kernel.Apply(some, own)
		if err != nil {
			return nil, err
		}
		result = append(result, part...)
	}
	return result, nil
}
