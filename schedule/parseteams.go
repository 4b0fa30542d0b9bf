package schedule

import (
	"fmt"
	"slices"
	"strconv"

	"collsim/unit"
)

// readTeam is a team of a text, the line it begins at, and what its schedule asks of a machine.
type readTeam struct {
	Team
	line int
	load load
}

// team reads "team 0 2 4", below which the indented lines are its schedule's text, or
// "team 5 3 1 as 0", which plays what team 0 does. It returns the lines behind them.
func (p *parser) team(args, lines []string) (rest []string, err error) {
	if err := p.mayHaveTeams(); err != nil {
		return nil, err
	}
	t := readTeam{line: p.line}
	as := -1
	if n := len(args); n > 2 && args[n-2] == "as" {
		if as, err = strconv.Atoi(args[n-1]); err != nil || as < 0 || as >= len(p.teams) {
			return nil, fmt.Errorf("as %s: the number of a team above is expected, counted from 0",
				args[n-1])
		}
		args = args[:n-2]
	}
	ranks, err := numbers[int32](args, 0, maxRanks)
	if err != nil {
		return nil, err
	}
	for _, r := range ranks {
		t.Ranks = append(t.Ranks, int(r))
	}
	body, rest := indented(lines)
	if as >= 0 {
		like := p.teams[as]
		t.Schedule, t.load = like.Schedule, like.load
		p.load = p.load.plus(t.load)
		if len(body) > 0 {
			return nil, fmt.Errorf("as %d: a schedule of its own is not expected", as)
		}
		if p.lanes > maxAllLanes || p.work > maxWork {
			return nil, fmt.Errorf("with this team there are %d lanes, and %s blocks and peers; at most "+
				"%d and %d are read", p.lanes, atLeast(p.work), int64(maxAllLanes), int64(maxWork))
		}
	} else if err := p.ownSchedule(&t, body); err != nil {
		return nil, err
	}
	p.teams = append(p.teams, t)
	p.line += len(body)
	return rest, nil
}

// mayHaveTeams says why a team may not stand here.
func (p *parser) mayHaveTeams() error {
	if p.member {
		return fmt.Errorf("a team has no teams")
	}
	for _, fact := range p.facts {
		if fact != "schedule" && fact != "ranks" {
			return fmt.Errorf("%q stands above the teams; each says so itself", fact)
		}
	}
	if p.roles != nil || !slices.Contains(p.facts, "ranks") {
		return fmt.Errorf("above the teams stands how many ranks there are in all, as in ranks 8")
	}
	return nil
}

// indented are the lines down to the next that is not, blank ones and comments among them.
func indented(lines []string) (body, rest []string) {
	n := 0
	for i, raw := range lines {
		raw = uncomment(raw)
		if raw != "" && indentOf(raw) == 0 {
			break
		}
		if raw != "" {
			n = i + 1
		}
	}
	return lines[:n], lines[n:]
}

// ownSchedule reads the schedule of a team, whose text is indented by 2.
func (p *parser) ownSchedule(t *readTeam, body []string) error {
	const margin = 2
	if len(body) == 0 {
		return fmt.Errorf("what the team does stands below it, indented by %d, or it is as a team above",
			margin)
	}
	text := make([]string, len(body))
	for i, raw := range body {
		if raw = uncomment(raw); raw == "" {
			continue
		}
		if indentOf(raw) < margin {
			return &ParseError{p.line + 1 + i, fmt.Sprintf("what a team does is indented by %d", margin)}
		}
		text[i] = raw[margin:]
	}
	before := p.load
	of := parser{member: true, line: p.line, load: before}
	s, err := of.parse(text)
	if err != nil {
		return err
	}
	t.Schedule, p.load = s, of.load
	t.load = load{lanes: of.lanes - before.lanes, work: of.work - before.work}
	return nil
}

// plus is the sum of both.
func (l load) plus(other load) load {
	return load{lanes: unit.AddCapped(l.lanes, other.lanes), work: unit.AddCapped(l.work, other.work)}
}

// beside is the schedule of all teams.
func (p *parser) beside() (*Schedule, error) {
	s := newBeside(p.s.Spec.Ranks, p.teams[0].Schedule)
	for _, t := range p.teams {
		if err := s.join(t.Team); err != nil {
			return nil, atLine(t.line, err)
		}
	}
	s.Name = p.s.Name
	return s, nil
}
