package flat

// List is a list that only grows, in pieces: what is in it stays where it is, so that nothing is
// copied on the way and no more is taken than is used, but for the last piece.
type List[T any] struct {
	pieces [][]T
	n      int
}

const (
	pieceBits = 8
	piece     = 1 << pieceBits
)

// Len is how many there are.
func (l *List[T]) Len() int { return l.n }

// At is one of them.
func (l *List[T]) At(i int) *T { return &l.pieces[i>>pieceBits][i&(piece-1)] }

// Next is a further one, empty.
func (l *List[T]) Next() *T {
	if l.n&(piece-1) == 0 {
		l.pieces = append(l.pieces, make([]T, piece))
	}
	l.n++
	return l.At(l.n - 1)
}

// Skip adds so many that are empty.
func (l *List[T]) Skip(n int) {
	for l.n += n; l.n > len(l.pieces)<<pieceBits; {
		l.pieces = append(l.pieces, make([]T, piece))
	}
}

// AppendTo appends all to a slice.
func (l *List[T]) AppendTo(all []T) []T {
	for i, p := range l.pieces {
		all = append(all, p[:min(piece, l.n-i<<pieceBits)]...)
	}
	return all
}
