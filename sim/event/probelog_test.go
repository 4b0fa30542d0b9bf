package event

import (
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// records is what a probe has written, for whoever reads the log.
type records struct {
	p    *probe
	none int64 // where spans are that say that no link has cost any time
}

// reader is called when the run is over.
func (p *probe) reader() *records {
	longest := int32(0)
	for i := range p.e.network.Routes {
		r := &p.e.network.Routes[i]
		longest = max(longest, r.To-r.From)
	}
	n := p.spans.Len()
	p.log.Spans = p.spans.AppendTo(make([]unit.Time, 0, n+int(longest)))[:n+int(longest)]
	return &records{p, int64(n)}
}

// Step is the record of a sub-step.
func (r *records) Step(number int32) model.StepRecord { return *r.p.steps.At(int(number)) }

// Message is the record of a message.
func (r *records) Message(number int32) model.MessageRecord {
	m := *r.p.messages.At(int(number))
	if m.Spans == noSpans {
		m.Spans = r.none
	}
	return m
}

// All writes the records of all sub-steps and messages.
func (r *records) All() {
	p, log := r.p, r.p.log
	log.Steps = p.steps.AppendTo(make([]model.StepRecord, 0, p.steps.Len()))
	log.Messages = make([]model.MessageRecord, p.messages.Len())
	for i := range log.Messages {
		log.Messages[i] = r.Message(int32(i))
	}
	if log.Details != nil {
		r.details()
	}
}

// details are in the order of the steps, of which each lane has come to one after the other.
func (r *records) details() {
	e, log := r.p.e, r.p.log
	for i := range e.lanes.len() {
		l := e.lanes.at(i)
		l.cursor = e.programs[l.rank].Walk(int(i - e.first[l.rank]))
	}
	log.Details = slices.Grow(log.Details, len(log.Steps))
	for i := range log.Steps {
		l := e.lanes.at(log.Steps[i].Lane)
		e.programs[l.rank].Load(&l.cursor, &e.step)
		log.Details = append(log.Details, model.DetailOf(&e.step, &l.cursor))
		l.cursor.Next(l.slices)
	}
}
