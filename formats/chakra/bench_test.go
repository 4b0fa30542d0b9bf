package chakra_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRead reads 20,000 sends with six attributes each.
func BenchmarkRead(b *testing.B) {
	var nodes []message
	for i := range uint64(20_000) {
		nodes = append(nodes, node(i, 5).attr("comm_size", 9, 64<<10).attr("comm_dst", 15, 2).
			attr("comm_tag", 11, i).attr("note", 27, 1).attr("other", 13, i).attr("third", 7, i))
	}
	sends := file(nodes...)
	receives := make([]message, len(nodes))
	for i := range receives {
		receives[i] = node(uint64(i), 6).attr("comm_size", 9, 64<<10).attr("comm_src", 15, 0).
			attr("comm_tag", 11, uint64(i))
	}
	both := file(receives...)
	b.SetBytes(int64(len(sends) + len(both)))
	for b.Loop() {
		_, err := read(sends, both)
		require.NoError(b, err)
	}
}
