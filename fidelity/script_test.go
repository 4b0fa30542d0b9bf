package fidelity_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/fidelity"
	"collsim/unit"
)

// TestScripts prints cases as people see them, as testdata shows:
//
//	cases [network=(N)] [executor=(E)]   adds cases, one a line:
//	                 kind algorithm bytes simulated measured±spread×repetitions bits[/rest] [# why]
//	clear                                forgets them
//	text|markdown|judge [bits=B] [median=S] [p90=S] [miss=S] [title=(T)]
//
// A measured time of - is none; "not" is not comparable.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var cases []fidelity.Case
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "cases":
				for _, line := range strings.Split(d.Input, "\n") {
					c := caseOf(t, line)
					d.MaybeScanArgs(t, "network", &c.Network)
					d.MaybeScanArgs(t, "executor", &c.Executor)
					cases = append(cases, c)
				}
				return fmt.Sprintf("%d cases\n", len(cases))
			case "clear":
				cases = nil
				return ""
			}
			tolerance, head := asked(t, d)
			switch d.Cmd {
			case "text":
				return fidelity.Text(cases, tolerance)
			case "markdown":
				return fidelity.Markdown(head, cases, tolerance)
			case "judge":
				return fmt.Sprintf("asked: %v\n%s", tolerance,
					strings.Join(append(tolerance.Judge(cases), ""), "\n"))
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// caseOf reads a line of a script.
func caseOf(t *testing.T, line string) fidelity.Case {
	line, why, _ := strings.Cut(line, " # ")
	f := strings.Fields(line)
	require.Len(t, f, 6, line)
	bits, rest, more := strings.Cut(f[5], "/")
	if bits == "not" {
		bits = fidelity.NotComparable
	}
	c := fidelity.Case{Kind: f[0], Algorithm: f[1], Bits: bits, Why: why}
	var err error
	c.Bytes, err = unit.ParseBytes(f[2])
	require.NoError(t, err)
	c.Simulated = timeOf(t, f[3])
	measured, repetitions, _ := strings.Cut(f[4], "×")
	measured, spread, _ := strings.Cut(measured, "±")
	c.Measured, c.Spread = timeOf(t, measured), timeOf(t, spread)
	if repetitions != "" {
		c.Repetitions, err = strconv.Atoi(repetitions)
		require.NoError(t, err)
	}
	c.ID = fmt.Sprintf("%s/%s/%d", c.Kind, c.Algorithm, int64(c.Bytes))
	if more {
		c.ID += "/" + rest
	}
	return c
}

func timeOf(t *testing.T, text string) unit.Time {
	if text == "" || text == "-" {
		return 0
	}
	at, err := unit.ParseTime(text)
	require.NoError(t, err)
	return at
}

// asked reads what a command of a script asks for.
func asked(t *testing.T, d *datadriven.TestData) (fidelity.Tolerance, fidelity.Head) {
	tolerance := fidelity.Tolerance{}
	head := fidelity.Head{Text: "Executed by `collsim validate lab.toml`, on four cores."}
	d.MaybeScanArgs(t, "bits", &tolerance.Bits)
	d.MaybeScanArgs(t, "title", &head.Title)
	for _, b := range []struct {
		key string
		to  *unit.Share
	}{{"median", &tolerance.TimeMedian}, {"p90", &tolerance.TimeP90}, {"miss", &head.Miss}} {
		text := ""
		if d.MaybeScanArgs(t, b.key, &text) {
			share, err := unit.ParseShare(text)
			require.NoError(t, err)
			*b.to = share
		}
	}
	return tolerance, head
}
