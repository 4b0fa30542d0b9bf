package page

import "collsim/unit"

// Matrix is the traffic from senders (down) to receivers (across).
type Matrix struct {
	Names []string       // of both
	Bytes [][]unit.Bytes // by sender, then receiver
}

// mostBlocks is the most rows of a matrix. Of more ranks, several share a row.
const mostBlocks = 64

// Traffic sums up messages: the bytes from and to each of a number of ranks. More than 64 of them
// share rows, as many in each.
func Traffic(ranks int, name func(first, last int) string,
	messages func(yield func(from, to int, bytes unit.Bytes))) *Matrix {
	per := (ranks + mostBlocks - 1) / mostBlocks
	blocks := (ranks + per - 1) / per
	m := &Matrix{Bytes: make([][]unit.Bytes, blocks)}
	for i := range blocks {
		m.Names = append(m.Names, name(i*per, min((i+1)*per, ranks)-1))
		m.Bytes[i] = make([]unit.Bytes, blocks)
	}
	messages(func(from, to int, bytes unit.Bytes) { m.Bytes[from/per][to/per] += bytes })
	return m
}

type matrixData struct {
	Names []string       `json:"names"`
	Bytes [][]unit.Bytes `json:"bytes"`
}

func (m *Matrix) data() *matrixData { return &matrixData{m.Names, m.Bytes} }
