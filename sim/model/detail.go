package model

import "collsim/schedule"

// DetailOf describes the sub-step at a cursor, for pictures.
func DetailOf(s *schedule.Step, c *schedule.Cursor) Detail {
	d := Detail{Chunk: int32(s.Chunk()), Slice: c.Slice(), Round: s.Round, Peer: peerOf(s),
		IsEdge: c.Edge()}
	if s.Moves() {
		d.Verb = s.Verb()
	}
	return d
}

// peerOf returns the rank that a step sends to, or else receives from; −1 if there is none.
func peerOf(s *schedule.Step) int32 {
	if len(s.Send) > 0 && s.Send[0].Team == nil {
		return s.Send[0].Peer.Rank
	}
	for k := range s.From {
		if f := &s.From[k]; f.Kind == schedule.Message || f.Kind == schedule.Get {
			return f.Peer.Rank
		}
	}
	return -1
}
