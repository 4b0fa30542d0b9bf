package run

import (
	"collsim/formats"
	"collsim/scenarios"
)

// VerifyProgram proves what a program is carried out as. slots takes the place of sim.slots if it
// is not negative.
func (s *Scenario) VerifyProgram(p *scenarios.ProgramPoint, slots int) (_ *Verification,
	err error) {
	defer func() { err = s.located(err) }()
	low, _, err := lowerFitting(&runner{s: s}, p, proves)
	if err != nil {
		return nil, err
	}
	o := VerifyOptions{Slots: slots}
	switch {
	case slots < 0: // as in the scenario
		o.Slots = p.Sim.Slots
	case slots == 0:
		o.Slots = -1
	}
	v := VerifyFile(s.File, &formats.File{Format: formats.Text, Name: low.Schedule.Name,
		Schedule: low.Schedule}, o)
	v.Format, v.ID, v.Notes = "scenario", p.ID, append(v.Notes, p.Notes...)
	return v, nil
}
