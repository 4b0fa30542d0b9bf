package hw

import (
	"fmt"

	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// What a rank is given, and what it has in the end, are buffers one after the other: its input, or
// output, and the given tensors, or the results, in the order of Schedule.Tensors.

// InputBuffers are the buffers that a rank is given.
func InputBuffers(s *schedule.Schedule) []schedule.Buffer {
	return buffersOf(s, schedule.Input, schedule.Given)
}

// OutputBuffers are the buffers that hold what a rank has in the end.
func OutputBuffers(s *schedule.Schedule) []schedule.Buffer {
	return buffersOf(s, schedule.Output, schedule.Result)
}

func buffersOf(s *schedule.Schedule, first schedule.Buffer, role schedule.Role) []schedule.Buffer {
	list := []schedule.Buffer{first}
	for i := range s.Tensors {
		if s.Tensors[i].Role == role {
			list = append(list, schedule.FirstTensor+schedule.Buffer(i))
		}
	}
	return list
}

// BufferBytes is how many bytes a rank's buffer has; none that only a definition names.
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

// InputBytes is how much a rank is given.
func InputBytes(s *schedule.Schedule, rank int) (n int64) {
	for _, b := range InputBuffers(s) {
		n += BufferBytes(s, b, rank)
	}
	return n
}

// OutputBytes is how much a rank has in the end.
func OutputBytes(s *schedule.Schedule, rank int) (n int64) {
	for _, b := range OutputBuffers(s) {
		n += BufferBytes(s, b, rank)
	}
	return n
}

// checkTensors says what is wrong with the given tensors of a job, nil if nothing.
func (j *Job) checkTensors() error {
	s := j.Schedule
	if len(j.Tensors) != len(s.Tensors) {
		return fmt.Errorf("hw: values of %d tensors: %d are expected", len(j.Tensors), len(s.Tensors))
	}
	for _, b := range InputBuffers(s)[1:] {
		values, name := j.Tensors[b-schedule.FirstTensor], s.BufferName(b)
		if len(values) != s.Spec.Ranks {
			return fmt.Errorf("hw: tensor %s of %d ranks: %d are expected", name, len(values),
				s.Spec.Ranks)
		}
		for rank, v := range values {
			if want := BufferBytes(s, b, rank); int64(len(v)) != want {
				return fmt.Errorf("hw: tensor %s has %d bytes on rank %d: %d are expected", name, len(v),
					rank, want)
			}
		}
	}
	return nil
}

// Given is what every rank is given. REQUIRES: Check.
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

// Take takes in what every rank of a schedule has in the end.
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

// OfType is a collective's arithmetic in another type.
func OfType(s *schedule.Schedule, where schedule.Spot, t dtype.Type) Arithmetic {
	spec := *s.SpecAt(where)
	spec.Type = t
	return ArithmeticOf(&spec)
}

// maxRowFLOPs is how many operations of a matmul are computed without looking up, or minRows rows
// if those have more: each time, all of B is looked at.
const (
	maxRowFLOPs = 1 << 29
	minRows     = 64
)

// Compute computes a kernel, bit for bit as kernel.Apply does, and asks now and then whether it
// goes on: a matmul's rows depend on nothing but themselves, unless A lies transposed.
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
					return kernel.Apply(op, operands) // says what is wrong
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
