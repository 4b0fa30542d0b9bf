package collective

// AllRanks in Piece.From stands for the reduction over all ranks.
const AllRanks = -1

// Piece defines a run of output elements: output element Off+i is input element InOff+i of rank
// From, or the reduction of the elements InOff+i of all ranks.
type Piece struct {
	Off, Len int64 // in the output
	From     int   // a rank, or AllRanks
	InOff    int64 // in the input of From
}

// Want returns the definition of the kind: the pieces of a rank's output, in order, without gaps.
// Custom has no definition, and no pieces.
func (s Spec) Want(rank int) []Piece {
	if s.Out(rank) == 0 || s.Kind == Custom {
		return nil
	}
	switch s.Kind {
	case AllReduce, Reduce:
		return []Piece{{Len: s.Count, From: AllRanks}}
	case ReduceScatter, ReduceScatterV:
		return []Piece{{Len: s.Out(rank), From: AllRanks, InOff: s.blockStart(rank)}}
	case Broadcast:
		return []Piece{{Len: s.Count, From: s.Root}}
	case Scatter:
		return []Piece{{Len: s.Count, From: s.Root, InOff: s.blockStart(rank)}}
	case SendRecv:
		return []Piece{{Len: s.Count, From: (rank + s.Ranks - 1) % s.Ranks}}
	}
	pieces := make([]Piece, s.Ranks)
	off := int64(0)
	for r := range pieces {
		p := Piece{Off: off, From: r}
		switch s.Kind {
		case AllGather, Gather:
			p.Len = s.Count
		case AllGatherV:
			p.Len = s.Splits[0][r]
		case AllToAll:
			p.Len, p.InOff = s.Count, s.blockStart(rank)
		case AllToAllV:
			p.Len, p.InOff = s.Splits[r][rank], sum(s.Splits[r][:rank])
		}
		pieces[r] = p
		off += p.Len
	}
	return pieces
}
