package run

import (
	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// model sets the functions by which the series predicts the times of a table: the closed form of
// the algorithm, on a switch.
func (f *TableFit) model(found algos.Algorithm) error {
	m := tableModel{fit: f, found: found, options: options(f.Algorithm)}
	share, err := m.portShare()
	if err != nil {
		return err
	}
	f.series.Curve = func(n unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error) {
		if share > 1 && rate != unit.Unlimited {
			rate = max(1, unit.Rate(float64(rate)/share))
		}
		return m.closedForm(n, alpha, rate)
	}
	if m.alike() {
		f.series.Message = m.message
	} else {
		f.Notes = append(f.Notes, "messages of "+found.Name+" are of several sizes in a call, so that "+
			"ranges of sizes cannot be told apart: there is one")
	}
	return nil
}

// tableModel is the closed form of an algorithm, of a table's collective.
type tableModel struct {
	fit     *TableFit
	found   algos.Algorithm
	options algos.Options
}

// spec returns the collective of a size as tables count it: of bytes, where the type is none of
// ours.
func (m *tableModel) spec(size unit.Bytes) collective.Spec {
	kind, ranks := m.fit.Kind, m.fit.Ranks
	of, err := dtype.Parse(m.fit.Table.Type)
	if err != nil {
		of = dtype.Uint8
	}
	count := max(1, int64(size)/int64(of.Width()))
	spec := collective.Spec{Kind: kind, Type: of, Ranks: ranks, Count: count}
	if kind.Reduces() {
		spec.Op = collective.Sum
	}
	if spec.Bytes() > max(size, unit.Bytes(of.Width())) { // size is the whole vector
		spec.Count = max(1, count/int64(ranks))
	}
	return spec
}

func (m *tableModel) closedForm(n unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error) {
	return m.found.ClosedForm(m.spec(n), m.options, algos.Model{Alpha: alpha, Rate: rate})
}

// probe is a number of elements for every rank that is cut into blocks without a rest, and none of
// them into tiles.
const probe = 64 * unit.Byte

// bytes returns the bytes that the closed form counts one after the other: its time at 1 GB/s
// without latency.
func (m *tableModel) bytes(size unit.Bytes) (unit.Bytes, error) {
	t, err := m.closedForm(size, 0, unit.Rate(unit.GB))
	return unit.Bytes(t / unit.Nanosecond), err
}

// rounds returns the closed form's cost at a size, with its number of steps.
func (m *tableModel) rounds(size unit.Bytes) (algos.Cost, error) {
	return m.found.CostOf(m.spec(size), m.options)
}

// alike reports whether all messages of a call have one size.
func (m *tableModel) alike() bool {
	cost, err := m.rounds(probe * unit.Bytes(m.fit.Ranks))
	if err != nil {
		return false
	}
	for _, r := range cost.Rounds {
		if r.Times > 0 && r.Blocks != cost.Rounds[0].Blocks {
			return false
		}
	}
	return true
}

// message returns the size of a call's messages: the slice of a channel. Where the closed form
// has no steps it is the whole size.
func (m *tableModel) message(size unit.Bytes) unit.Bytes {
	cost, err := m.rounds(size)
	bytes, err2 := m.bytes(size)
	if err != nil || err2 != nil || cost.Steps() == 0 {
		return size
	}
	pieces := max(m.options.Channels, 1) * max(m.options.Slices, 1)
	n := unit.Bytes(cost.Steps() * pieces)
	return (bytes + n - 1) / n
}

// portShare returns the bytes through the busiest port of a switch over the bytes that the closed
// form counts. The form assumes a wire between every two ranks, and so does not charge a rank for
// sending to several at once.
func (m *tableModel) portShare() (float64, error) {
	size := probe * unit.Bytes(m.fit.Ranks)
	form, err := m.bytes(size)
	if err != nil || form == 0 {
		return 1, err
	}
	s, err := m.found.Build(m.spec(size), m.options)
	if err != nil {
		return 1, err
	}
	return float64(busiestPort(s)) / float64(form), nil
}

// busiestPort returns the most bytes that a rank sends or receives. Where all ranks do the same,
// rank 0 stands for all: each receives as much as it sends.
func busiestPort(s *schedule.Schedule) (most int64) {
	ranks := s.Spec.Ranks
	if s.Group != nil {
		ranks = 1
	}
	out, in := make([]int64, s.Spec.Ranks), make([]int64, s.Spec.Ranks)
	var step schedule.Step
	for rank := range ranks {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done(); c.Next(int32(s.Slices)) {
				p.Load(&c, &step)
				n, _ := s.Size(schedule.Spot{Rank: rank, Channel: p.Channel(lane),
					Slice: int(c.Slice())}, &step)
				for i := range step.Send {
					out[rank] += n
					in[step.Send[i].Peer.Rank] += n
				}
			}
		}
	}
	for rank := range ranks {
		most = max(most, out[rank])
		if s.Group == nil {
			most = max(most, in[rank])
		}
	}
	return most * int64(s.Spec.Type.Width())
}
