package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/device"
	"collsim/fidelity"
	"collsim/hw/calibrate"
	"collsim/internal/parallel"
	"collsim/machine"
	"collsim/sim"
	"collsim/unit"
)

// Of a class of a table's sizes so many times are fitted, and none of sizes that are larger than
// links need to come to their rate, nor of calls of more messages; the others are held out.
const (
	mostOfClass  = 3
	mostFitted   = unit.GiB
	mostMessages = 1 << 15
)

// chosenToFit returns which points of a table are fitted: of each class of sizes some, from the
// least to the largest at even distances.
func chosenToFit(points []calibrate.Point) []bool {
	chosen := make([]bool, len(points))
	for class := range fidelity.SizeClasses() {
		var of []int
		for i, p := range points {
			if fidelity.ClassOf(p.Size) == class && p.Size <= mostFitted {
				of = append(of, i)
			}
		}
		slices.SortStableFunc(of, func(a, b int) int {
			return cmp.Compare(points[a].Size, points[b].Size)
		})
		n := min(len(of), mostOfClass)
		for k := range n {
			chosen[of[k*(len(of)-1)/max(n-1, 1)]] = true
		}
	}
	return chosen
}

// forEach does something for each of many, on all processors, and returns the first error.
func forEach(n int, do func(i int) error) error {
	errs := make([]error, n)
	parallel.Each(n, func() func(int) {
		return func(i int) { errs[i] = do(i) }
	})
	return cmp.Or(errs...)
}

// ncclSearch looks for the figures of a machine at which simulations take the times of tables.
type ncclSearch struct {
	tables  []*NCCLTable
	process string // of tables that do not say so
	set     []string
	of      *machine.Machine
	device  device.Device
	figures []ncclFigure
	cases   []ncclCase
	found   []calibrate.Posterior
	off     float64 // the least sum
}

// ncclCase is a time that is fitted.
type ncclCase struct {
	table *NCCLTable
	calibrate.Point
	way  string
	made *made // what NCCL does, whatever the figures that are looked for
}

// newSearch prepares a search.
func newSearch(tables []*NCCLTable, process string,
	o NCCLOptions) (*ncclSearch, error) {
	s := &ncclSearch{tables: tables, process: process, set: o.Set, of: o.Machine}
	var err error
	if s.device, err = device.Lookup(o.Machine.Device); err != nil {
		return nil, err
	}
	if len(s.device.Protocols) == 0 {
		return nil, &TableError{"machine", fmt.Sprintf("%s has %s, of which NCCL's protocols are not "+
			"known", o.Machine.Name, s.device.Name)}
	}
	for _, t := range tables {
		for i, chosen := range chosenToFit(t.points) {
			if chosen {
				s.cases = append(s.cases, ncclCase{table: t, Point: t.points[i]})
			}
		}
	}
	if err := forEach(len(s.cases), func(i int) error { return s.cases[i].begin(s) }); err != nil {
		return nil, err
	}
	s.cases = slices.DeleteFunc(s.cases, func(c ncclCase) bool { return c.made == nil })
	if len(s.cases) == 0 {
		return nil, &TableError{"", "every call has too many messages to be simulated again and again"}
	}
	for _, f := range ncclFigures(s.of, &s.device) {
		if slices.ContainsFunc(s.cases, func(c ncclCase) bool { return f.spent(s.call(&c)) }) {
			s.figures = append(s.figures, f)
		}
	}
	return s, nil
}

// begin makes the schedule of a case; none if it has too many messages.
func (c *ncclCase) begin(s *ncclSearch) error {
	of, err := c.table.load(s.of, c.Size, s.process, s.set)
	if err != nil {
		return err
	}
	r := &runner{s: of, do: (&RunOptions{}).stages()}
	result, m, err := r.begin(of.Points[0])
	if err == nil && workOf(m.whole).transfers <= mostMessages {
		c.made, c.way = m, wayOf(result)
	}
	return err
}

// timed simulates a case on a machine with figures.
func (c *ncclCase) timed(s *ncclSearch, m *machine.Machine) (unit.Time, error) {
	of, err := c.table.load(m, c.Size, s.process, s.set)
	if err != nil {
		return 0, err
	}
	r := &runner{s: of}
	if err := r.enter(of.Points[0]); err != nil {
		return 0, err
	}
	result := r.blank(of.Points[0])
	result.Algorithm = c.made.algorithm
	alone, err := sim.Run(c.made.whole, r.env(result.Point, c.made.whole), sim.Options{})
	if err != nil {
		return 0, err
	}
	result.Time = alone.Time
	r.timeCalls(c.made.whole, result, alone)
	return perCall(result)
}

// call returns what decides which figures a case spends.
func (s *ncclSearch) call(c *ncclCase) ncclCall {
	algorithm, protocol, _ := strings.Cut(strings.ToLower(c.way), " ")
	return ncclCall{algorithm, protocol, cmp.Or(c.table.Process, s.process), c.table.Nodes}
}

// find finds the figures.
func (s *ncclSearch) find() (err error) {
	var priors []calibrate.Prior
	for _, f := range s.figures {
		priors = append(priors, f.Prior)
	}
	var times []calibrate.Timed
	for i := range s.cases {
		c := &s.cases[i]
		t := calibrate.Timed{Time: float64(c.Time)}
		for j, f := range s.figures {
			if f.spent(s.call(c)) {
				t.On = append(t.On, j)
			}
		}
		times = append(times, t)
	}
	s.found, s.off, err = calibrate.FitPriors(priors, times, s.predict)
	return err
}

// predict simulates cases with figures.
func (s *ncclSearch) predict(numbers []int, figures [][]float64) ([]float64, error) {
	times := make([]float64, len(numbers))
	err := forEach(len(numbers), func(i int) error {
		m, err := s.machineOf(figures[i], nil, false)
		if err != nil {
			return err
		}
		t, err := s.cases[numbers[i]].timed(s, m)
		times[i] = float64(t)
		return err
	})
	return times, err
}

// Bounds on the share of a figure's variance that the times explain. From leastTold on the times
// determine the figure. Below untold they say nothing about it, and a figure without a known
// value stays unknown.
const (
	leastTold = 0.3
	untold    = 0.1
)

// machine returns the machine with the figures found. It keeps figures that the times hardly
// determine one by one, as they may be determined together.
func (s *ncclSearch) machine() (*machine.Machine, error) {
	values, kept := make([]float64, len(s.found)), make([]bool, len(s.found))
	for j, p := range s.found {
		values[j], kept[j] = p.Found, !s.figures[j].isNew || p.Explained >= untold
	}
	return s.machineOf(values, kept, true)
}

// report says what was found of each figure.
func (s *ncclSearch) report() (list []NCCLFigure) {
	for j, p := range s.found {
		f := &s.figures[j]
		one := NCCLFigure{Name: p.Name, Found: f.text(p.Found), Low: f.text(p.Low),
			High: f.text(p.High), Told: p.Explained, Fitted: p.Explained >= leastTold}
		if !f.isNew {
			one.Before = f.text(p.Value)
		} else if p.Explained < untold {
			continue
		}
		list = append(list, one)
	}
	return list
}

// machineOf returns the machine with figures: those that are kept, all if it is nil.
func (s *ncclSearch) machineOf(values []float64, kept []bool,
	round bool) (*machine.Machine, error) {
	was := s.of.Protocols(s.device.Protocols)
	c := &changes{of: s.of, protocols: slices.Clone(was), round: round, tables: len(s.tables)}
	for j, f := range s.figures {
		if kept == nil || kept[j] {
			f.into(c, values[j])
		}
	}
	used := map[string]bool{}
	for i := range s.cases {
		used[cmp.Or(s.call(&s.cases[i]).algorithm, "p2p")] = true
	}
	c.addProtocols(was, used)
	return s.of.With(s.of.Name, s.of.About, c.figures)
}
