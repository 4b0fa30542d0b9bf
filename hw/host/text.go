package host

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/schedule"
)

// teamMark begins a line of a schedule's text that names the ranks of a team.
const teamMark = "# ranks "

// parse is the schedule of a text that Schedule.String has printed. That of several teams is one
// text after the other, each below the teams that play it.
func parse(text string, ranks int) (*schedule.Schedule, error) {
	if !strings.HasPrefix(text, teamMark) {
		return schedule.Parse(text)
	}
	var teams []schedule.Team
	for text != "" {
		first := len(teams)
		for strings.HasPrefix(text, teamMark) {
			line, rest, _ := strings.Cut(text, "\n")
			members, err := members(line[len(teamMark):])
			if err != nil {
				return nil, err
			}
			teams, text = append(teams, schedule.Team{Ranks: members}), rest
		}
		body, rest, more := strings.Cut(text, "\n"+teamMark)
		if text = ""; more {
			text = teamMark + rest
		}
		s, err := schedule.Parse(body + "\n")
		if err != nil {
			return nil, err
		}
		for i := range teams[first:] {
			teams[first+i].Schedule = s
		}
	}
	return schedule.Beside(ranks, teams...)
}

func members(text string) (ranks []int, err error) {
	for _, word := range strings.Fields(text) {
		rank, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("host: rank %q of a team: a number is expected", word)
		}
		ranks = append(ranks, rank)
	}
	return ranks, nil
}
