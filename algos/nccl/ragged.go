package nccl

import (
	"fmt"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// ragged are the messages of an all_to_allv, each cut by its own size, as NCCL does with every send
// of a group.
//
// A buffer is cut into the chunks of all its messages: they are its blocks.
type ragged struct {
	of    [][]*message // by sender and receiver; nil: there is none
	first [2][][]int   // chunk of a message: of input or output, by its rank and the other one
	cuts  [3]schedule.Cut
}

// mostRagged bounds the bytes of a rank that are cut into chunks of several sizes: each is listed.
const mostRagged = 1 << 40

// plain returns an all_to_allv whose blocks are all of one size as the all_to_all that it is, and
// any other collective as it is.
func plain(spec collective.Spec) collective.Spec {
	if spec.Kind != collective.AllToAllV {
		return spec
	}
	for _, row := range spec.Splits {
		for _, n := range row {
			if n != spec.Splits[0][0] {
				return spec
			}
		}
	}
	spec.Kind, spec.Count, spec.Splits = collective.AllToAll, spec.Splits[0][0], nil
	return spec
}

// raggedOf cuts the messages of an all_to_allv. Empty ones are sent as well, as NCCL does with a
// send of no elements, unless they are skipped.
func (x *p2p) raggedOf(skipsEmpty bool) (*ragged, error) {
	r, ranks := &ragged{of: make([][]*message, x.ranks)}, x.ranks
	for rank := range ranks {
		most := max(x.spec.In(rank), x.spec.Out(rank)) * int64(x.spec.Type.Width())
		if most > mostRagged {
			return nil, fmt.Errorf("rank %d has %v in blocks of several sizes; at most %v is "+
				"expected", rank, unit.Bytes(most), unit.Bytes(mostRagged))
		}
	}
	known := map[int64]*message{}
	for from, row := range x.spec.Splits {
		r.of[from] = make([]*message, ranks)
		for to, n := range row {
			if known[n] == nil && (n > 0 || !skipsEmpty) {
				known[n] = x.cut(n)
			}
			r.of[from][to] = known[n]
		}
	}
	for _, b := range []schedule.Buffer{schedule.Input, schedule.Output} {
		r.list(b, x.spec.Splits)
	}
	return r, nil
}

// list cuts a buffer into one block for each chunk of its messages, peer by peer. splits[from][to]
// counts the elements of a message. Every rank gets as many blocks as the rank with the most
// chunks; the last ones may be empty.
func (r *ragged) list(b schedule.Buffer, splits [][]int64) {
	ranks, most := len(splits), 0
	rows := make([][]int64, ranks)
	r.first[b] = make([][]int, ranks)
	for rank := range ranks {
		at := int64(0)
		for other := range ranks {
			from, to := rank, other
			if b == schedule.Output {
				from, to = other, rank
			}
			r.first[b][rank] = append(r.first[b][rank], len(rows[rank]))
			if m := r.of[from][to]; m != nil {
				for _, end := range m.ends {
					rows[rank] = append(rows[rank], at+end)
				}
			}
			at += splits[from][to]
		}
		most = max(most, len(rows[rank]))
	}
	for rank, row := range rows {
		for len(rows[rank]) < most {
			end := int64(0)
			if len(row) > 0 {
				end = row[len(row)-1]
			}
			rows[rank] = append(rows[rank], end)
		}
	}
	r.cuts[b] = schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, Ends: rows}}
}
