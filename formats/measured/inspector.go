package measured

import (
	"bytes"
	"encoding/json"
	"fmt"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/unit"
)

// inspected is a record of NCCL Inspector, NCCL's profiler plugin (plugins/profiler/inspector in
// its source): a call as a rank has seen it.
type inspected struct {
	Header struct {
		Ranks int `json:"n_ranks"`
		Nodes int `json:"nnodes"`
	} `json:"header"`
	Call *struct {
		Kind     string  `json:"coll"`
		Size     int64   `json:"coll_msg_size_bytes"` // of a rank's block
		Time     float64 `json:"coll_exec_time_us"`
		AlgBW    float64 `json:"coll_algobw_gbs"`
		BusBW    float64 `json:"coll_busbw_gbs"`
		Algo     string  `json:"coll_algo"` // this and the next two by RCCL's alone
		Proto    string  `json:"coll_proto"`
		Channels int     `json:"coll_n_channels"`
	} `json:"coll_perf"`
}

func isInspector(text []byte) bool {
	return bytes.HasPrefix(text, []byte("{")) && (bytes.Contains(text, []byte(`"coll_perf"`)) ||
		bytes.Contains(text, []byte(`"p2p_perf"`)))
}

// readInspector reads records of NCCL Inspector, one a line or printed wide: a row for each call
// and rank. Calls of one size are many rows. Sends and receives are left out.
func readInspector(file string, text []byte) (*Data, error) {
	i := reading{file: file}
	last, others, first := 1, 0, 0
	i.eachValue(text, "JSON of NCCL Inspector", func(line int, value []byte) error {
		var one inspected
		if err := json.Unmarshal(value, &one); err != nil {
			return err
		}
		last = line
		if one.Call == nil {
			if others++; first == 0 {
				first = line
			}
			return nil
		}
		row, err := one.row(file)
		if err != nil {
			return err
		}
		row.Line = line
		i.Rows = append(i.Rows, row)
		return nil
	})
	if others > 0 {
		i.note(first, prose.Plural(others, "record")+" of no collective is left out")
	}
	i.number()
	return i.done(last, "no record of a collective has a time")
}

// row returns the time of a call.
func (one *inspected) row(file string) (Row, error) {
	c := one.Call
	of := Of{File: file, Kind: kindOf(c.Kind), Ranks: one.Header.Ranks, Nodes: one.Header.Nodes}
	r := Row{Of: of, Size: unit.Bytes(c.Size), Root: -1, Wrong: -1, AlgBW: c.AlgBW, BusBW: c.BusBW,
		AlgStep: jsonStep, BusStep: jsonStep, Choice: Choice{c.Algo, c.Proto, c.Channels}}
	switch {
	case of.Kind == 0:
		return r, fmt.Errorf("coll: %.20q: a collective is expected", c.Kind)
	case c.Size < 0 || c.Size > mostWhole:
		return r, fmt.Errorf("coll_msg_size_bytes: 0 to 2^50 is expected")
	case of.Ranks < 1 || of.Ranks > maxRanks || of.Nodes < 0 || of.Nodes > of.Ranks:
		return r, fmt.Errorf("n_ranks: a number of ranks from 1 to %d is expected", maxRanks)
	case c.AlgBW < 0 || c.BusBW < 0:
		return r, fmt.Errorf("coll_algobw_gbs: a number of at least 0 is expected")
	}
	if perRank(of.Kind) || of.Kind == collective.ReduceScatter {
		if c.Size > mostWhole/int64(of.Ranks) {
			return r, fmt.Errorf("coll_msg_size_bytes: at most 2^50 over all ranks is expected")
		}
		r.Size *= unit.Bytes(of.Ranks)
	}
	var err error
	r.Time, err = inMicroseconds(c.Time)
	return r, err
}
