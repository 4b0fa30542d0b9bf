package flat

// List is a list that only grows, in pieces. Its values never move, so nothing is copied, and no
// more memory is taken than one piece above what is used.
type List[T any] struct {
	pieces [][]T
	n      int
}

const (
	pieceBits = 8
	piece     = 1 << pieceBits // values
)

// Len returns the number of values.
func (l *List[T]) Len() int { return l.n }

// At returns the i-th value.
func (l *List[T]) At(i int) *T { return &l.pieces[i>>pieceBits][i&(piece-1)] }

// Next adds a zero value and returns it.
func (l *List[T]) Next() *T {
	if l.n&(piece-1) == 0 {
		l.pieces = append(l.pieces, make([]T, piece))
	}
	l.n++
	return l.At(l.n - 1)
}

// Skip adds n zero values.
func (l *List[T]) Skip(n int) {
	for l.n += n; l.n > len(l.pieces)<<pieceBits; {
		l.pieces = append(l.pieces, make([]T, piece))
	}
}

// AppendTo appends all values to a slice.
func (l *List[T]) AppendTo(all []T) []T {
	for i, p := range l.pieces {
		all = append(all, p[:min(piece, l.n-i<<pieceBits)]...)
	}
	return all
}
