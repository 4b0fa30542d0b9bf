package schedule_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/proof"
	"collsim/schedule"
)

// TestScripts runs the scripts of testdata. Commands:
//
//	schedule          read a schedule; check that it prints as it was written and that the cursor
//	                  walks it as the naive unroller does, rank by rank
//	walk rank=R       print every step of a rank, concrete
//	verify [slots=N] [iterations=N] [rendezvous]  print the proof, or what is wrong
//	damage [iterations=N]  replace lines of the schedule ("- old", "+ new") and verify the twin
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		var text string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "schedule":
				text = d.Input + "\n"
				s := schedule.MustParse(t, text)
				require.Equal(t, text, s.String())
				schedule.CheckWalks(t, s)
				return "prints, and walks, as written\n"
			case "walk":
				var rank int
				d.ScanArgs(t, "rank", &rank)
				return schedule.WalkText(schedule.MustParse(t, text), rank)
			case "verify":
				o := proof.Options{}
				d.MaybeScanArgs(t, "slots", &o.Slots)
				d.MaybeScanArgs(t, "iterations", &o.Iterations)
				o.Rendezvous = d.HasArg("rendezvous")
				return Verdict(schedule.MustParse(t, text), o)
			case "damage":
				o := proof.Options{}
				d.MaybeScanArgs(t, "iterations", &o.Iterations)
				return Verdict(schedule.MustParse(t, schedule.Damage(t, text, d.Input)), o)
			}
			d.Fatalf(t, "no command %q", d.Cmd)
			return ""
		})
	}
}

func Verdict(s *schedule.Schedule, o proof.Options) string {
	p, found := proof.Verify(s, o)
	if p == nil {
		var b strings.Builder
		for _, v := range found {
			fmt.Fprintln(&b, v)
		}
		return b.String()
	}
	return fmt.Sprintf("proved: %d rounds, %d steps, %d messages, %d bytes sent, %d slots needed, "+
		"rank order %v, same tree %v, %d iterations\n", p.Rounds, p.Steps, p.Messages, p.BytesSent,
		p.MinSlots, p.KeepsRankOrder, p.SameTree, p.Iterations)
}
