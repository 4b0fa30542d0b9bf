package schedule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const smallText = `schedule swap
collective send_recv float32
ranks 2
count 4
group 2
rank *
  lane 0
    send in to 1 @0
    recv from 1 into out @0
`

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, edit, want string }{
		{"kind", "- collective send_recv float32\n+ collective swap float32",
			`line 2: no kind "swap"`},
		{"type", "- collective send_recv float32\n+ collective send_recv float33", `line 2: `},
		{"operator", "- collective send_recv float32\n+ collective send_recv float32 sum",
			`line 2: "sum" does not belong to the collective`},
		{"fact", "- ranks 2\n+ rnks 2", `line 3: "rnks" is no fact of a schedule`},
		{"twice", "- ranks 2\n+ ranks 2\n+ ranks 2", `line 4: a second "ranks"`},
		{"number", "- count 4\n+ count four", "line 4: count takes one number from 0 to"},
		{"no count", "- count 4",
			`line 5: the header has no "count" line: the elements of the send_recv, as in the NCCL call`},
		{"no ranks", "- ranks 2", `line 5: the header has no "ranks" line: how many there are`},
		{"no collective", "- collective send_recv float32",
			`line 5: the header has no "collective" line`},
		{"group", "- group 2\n+ group 3", "line 6: digit 3 of the group is out of range"},
		{"cut", "- group 2\n+ group 2\n+ cut in block odd 2",
			`line 6: "odd": one of even, ceil, size, aligned, table is expected`},
		{"rank", "- rank *\n+ rank 0", "line 6: rank 0: rank * of 2 is expected"},
		{"lane", "-   lane 0\n+   lane 1", "line 7: lane 1: lane 0 is to come"},
		{"channel", "-   lane 0\n+   lane 0 channel 65536",
			"line 7: channel 65536: there are 65536 channels"},
		{"channel of cuts", "- group 2\n+ group 2\n+ cut in channel even 2\n" +
			"-   lane 0\n+   lane 0 channel 2", "line 8: channel 2: there are 2 channels"},
		{"no lane", "-   lane 0", `line 7: "send" stands before the first lane`},
		{"indent", "-     send in to 1 @0\n+    send in to 1 @0",
			"line 8: indented by 3; 4 is expected"},
		{"name", "-     send in to 1 @0\n+     recv in to 1 @0",
			"line 8: the step is called recv, but it is a send"},
		{"region", "-     send in to 1 @0\n+     send inn to 1 @0", `line 8: "inn" is no region`},
		{"peer", "-     send in to 1 @0\n+     send in to x @0", "line 8: a rank is expected"},
		{"variable", "-     send in to 1 @0\n+     send in to 1 @i",
			"line 8: i: there is no such loop or bundle of lanes around the step"},
		{"rest", "-     send in to 1 @0\n+     send in to 1 now @0",
			`line 8: "now" is not expected here`},
		{"loop", "-     send in to 1 @0\n+     loop 0", "line 8: loop takes one number from 1 to"},
		{"empty loop", "-     recv from 1 into out @0\n+     recv from 1 into out @0\n+     loop 2",
			"line 11: loop 2 of a program is empty"},
		{"end", "- rank *\n-   lane 0\n-     send in to 1 @0\n-     recv from 1 into out @0",
			"line 6: the text ends after 0 programs; 1 are needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(Damage(t, smallText, c.edit))
			require.Error(t, err)
			require.True(t, strings.HasPrefix(err.Error(), c.want), err.Error())
		})
	}
}

// FuzzParse: no text makes Parse panic, and what it reads prints as something that it reads alike.
func FuzzParse(f *testing.F) {
	f.Add(smallText)
	f.Add(program(f, 3).String())
	f.Add(composed(f).String())
	f.Add("schedule two\nranks 5\nteam 0 2" + strings.ReplaceAll("\n"+strings.TrimSpace(smallText),
		"\n", "\n  ") + "\nteam 4 3 as 0\n")
	paths, _ := filepath.Glob("testdata/*.txt")
	for _, path := range paths {
		script, err := os.ReadFile(path)
		require.NoError(f, err)
		_, text, _ := strings.Cut(string(script), "\nschedule\n")
		text, _, _ = strings.Cut(text, "\n----\n")
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil || s.Spec.Ranks > 64 {
			return
		}
		printed := s.String()
		again, err := Parse(printed)
		require.NoError(t, err, printed)
		require.Equal(t, printed, again.String())
		steps := 0
		limit := func(*Visit) error {
			if steps++; steps > 10000 {
				return os.ErrDeadlineExceeded
			}
			return nil
		}
		_, _ = Execute(s, Limits{Slots: 4}, Hooks{Step: limit})
	})
}

// A custom collective has an operator or not, and may be in place all the same.
func TestCustomInPlace(t *testing.T) {
	for _, problem := range []string{"in place", "avg post in place", "sum in place", "avg post"} {
		text := "schedule custom\ncollective custom float32 " + problem + "\nranks 1\n" +
			"splits 4\nsplits 4\nrank 0\n  lane 0\n    nop @0\n"
		require.Equal(t, text, MustParse(t, text).String())
	}
}

// A reduction into two blocks of which one was its operand is not in its own place, even if the
// other is empty.
func TestOwnPlace(t *testing.T) {
	_, err := Parse("schedule own\ncollective reduce float32 sum\nranks 2\ncount 1\nscratch 1\n" +
		"cut scratch block table 1 1\nrank 0\n  lane 0\n    copy in into scratch[0]\n" +
		"    recvReduce scratch[0 x2], from 1 into scratch[0]\n    copy scratch[0] into out\n" +
		"rank 1\n  lane 0\n    send in to 0\n")
	require.ErrorContains(t, err,
		"line 10: the step is called recvReduce, but it is a recvReduceCopy")
}
