package proof

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
)

// attacker writes texts that look like schedules: most numbers are small, some lie just outside of
// what exists, some are as large as can be written.
type attacker struct{ *rand.Rand }

func (a attacker) pick(words ...string) string { return words[a.IntN(len(words))] }

func (a attacker) number() string {
	switch a.IntN(60) {
	case 0:
		return a.pick("16777216", "1099511627776", "268435456", "65536", "9223372036854775807", "-1",
			"144115188075855871", "2147483648")
	case 1:
		return fmt.Sprint(a.IntN(100))
	}
	return fmt.Sprint(a.IntN(4))
}

// parts is a number that is hardly ever 0.
func (a attacker) parts() string { return a.pick("1", "2", "3", "4", "2", "3", a.number()) }

func (a attacker) expr() string {
	text := a.number()
	for a.IntN(5) == 0 {
		text += a.pick("+", "-") + a.pick("", "2", a.number()) + a.pick("i", "j", "l")
	}
	return text
}

func (a attacker) region() string {
	text := a.pick("in", "out", "scratch")
	if a.IntN(8) == 0 {
		text += "<" + a.expr() + ">"
	}
	switch a.IntN(8) {
	case 0:
		text += "[" + a.expr() + " x" + a.number() + "]"
	case 1:
		text += "[" + a.expr() + " x" + a.number() + " +" + a.number() + " x" + a.number() + "]"
	case 2:
		text += "{" + a.number() + "," + a.number() + "}"
	case 3, 4:
		text += "[" + a.expr() + "]"
	}
	return text
}

func (a attacker) peer() string {
	text := a.pick("", "", "", "pad ", "free ", "fifo ") + a.expr()
	if a.IntN(6) == 0 {
		text += "/" + a.expr()
	}
	if a.IntN(8) == 0 {
		text += ":" + a.number()
	}
	return text
}

func (a attacker) team() string {
	return "multimem{" + a.number() + "," + a.number() + "}"
}

func (a attacker) source() string {
	scaled := ""
	if a.IntN(20) == 0 {
		scaled = "scaled "
	}
	return scaled + a.pick(a.region(), a.region(), "from "+a.peer(), "from "+a.peer(),
		"from put "+a.peer(), "get "+a.peer()+" "+a.region(), a.team()+" "+a.region())
}

func (a attacker) dest() string {
	return a.pick(a.peer(), a.peer(), a.peer()+" at "+a.region()+a.pick("", " silent", " packet",
		" relaxed"), a.team()+" at "+a.region()+a.pick("", " packet"))
}

// step is one of the usual ones, or anything, under a name that may be right.
func (a attacker) step() string {
	end := a.pick("", "", " post", " after "+a.expr()+"#"+a.expr()) + a.pick("", " @"+a.expr())
	switch a.IntN(12) {
	case 0, 1:
		return "send " + a.region() + " to " + a.peer() + end
	case 2, 3:
		return "recv from " + a.peer() + " into " + a.region() + end
	case 4:
		return "copy " + a.region() + " into " + a.region() + end
	case 5:
		return "recvReduceCopy from " + a.peer() + ", " + a.region() + " into " + a.region() + end
	case 6:
		return "put " + a.region() + " to " + a.dest() + end
	case 7:
		return a.pick("signal to "+a.peer(), "wait from "+a.peer(), "wait from put "+a.peer(), "flush",
			"nop", "compute "+a.number()+"ps") + end
	case 8:
		return "reduce " + a.source() + ", " + a.source() + " into " + a.region() + end
	case 9:
		return "copy get " + a.peer() + " " + a.region() + " into " + a.region() + end
	}
	text := a.pick("send", "recvReduceSend", "recvReduceCopySend", "reduceSend", "copySend", "put",
		"reduceCopySend", "recvCopySend", "compute 5ps", "flush") + " " + a.source()
	if a.IntN(2) == 0 {
		text += ", " + a.source()
	}
	if a.IntN(2) == 0 {
		text += " into " + a.region()
	}
	if a.IntN(2) == 0 {
		text += " to " + a.dest()
	}
	return text + end
}

func (a attacker) cut(b *strings.Builder, buffer string) {
	if a.IntN(2) == 0 {
		return
	}
	var levels []string
	for range 1 + a.IntN(2) {
		way := a.pick("even ", "even ", "ceil ", "table ") + a.parts()
		if a.IntN(6) == 0 {
			way = a.pick("aligned ", "even ") + a.parts() + " to " + a.parts()
		}
		levels = append(levels, a.pick("block "+way, "block "+way, "block "+way, "tile "+way,
			"tile size "+a.parts(), "channel "+way)+a.pick("", "", "", "", "", "", "", " by rank"))
	}
	fmt.Fprintf(b, "cut %s %s\n", buffer, strings.Join(levels, ", "))
}

// program is one rank's.
func (a attacker) program(b *strings.Builder) {
	lane := 0
	for range 1 + a.IntN(2) {
		if last := lane + a.IntN(3); a.IntN(3) == 0 && last > lane {
			fmt.Fprintf(b, "  lanes %d-%d%s\n", lane, last, a.pick("", "", "", "", "", "", " channel l"))
			lane = last + 1
		} else {
			fmt.Fprintf(b, "  lane %d%s\n", lane, a.pick("", "", "", "", "", "", " channel "+a.number()))
			lane++
		}
		for range a.IntN(5) {
			if a.IntN(4) == 0 {
				fmt.Fprintf(b, "    loop %s\n      %s\n", a.number(), a.step())
			} else {
				fmt.Fprintf(b, "    %s\n", a.step())
			}
		}
	}
}

func (a attacker) text() string {
	var b strings.Builder
	ranks := 1 + a.IntN(4)
	kind := a.pick("all_reduce float32 sum", "all_reduce int8 avg", "all_gather int32", "barrier",
		"reduce_scatter float32 sum in place", "broadcast float16", "gather int64", "send_recv int32",
		"custom int32 sum", "custom int32", "all_to_allv int32")
	fmt.Fprintf(&b, "schedule\ncollective %s\nranks %d\n", kind, ranks)
	rows := map[string]int{"custom int32 sum": 2, "custom int32": 2, "all_to_allv int32": ranks}[kind]
	for range rows {
		b.WriteString("splits")
		for range ranks {
			b.WriteString(" " + a.number())
		}
		b.WriteString("\n")
	}
	if rows == 0 && kind != "barrier" {
		fmt.Fprintf(&b, "count %s\n", a.number())
	}
	group := a.IntN(2) == 0
	if group {
		fmt.Fprintf(&b, "group %d\n", ranks)
	}
	b.WriteString(a.pick("", "", "slices 2\n", "slots 1\n"))
	b.WriteString(a.pick("", "scratch "+a.number()+"\n"))
	for _, buffer := range []string{"in", "out", "scratch"} {
		a.cut(&b, buffer)
	}
	for rank := range ranks {
		if group {
			b.WriteString("rank *\n")
		} else {
			fmt.Fprintf(&b, "rank %d\n", rank)
		}
		if a.program(&b); group {
			break
		}
	}
	return b.String()
}

// mostWork is how many steps are verified: more are allowed, and take as long as they say.
const mostWork = 1 << 13

// hold asks of a text what any text must stand: no panic, and an end within ten seconds. It reports
// whether the text was read, and whether the schedule is right.
func hold(t *testing.T, text string) (read, right bool) {
	s, err := schedule.Parse(text)
	if err != nil {
		return false, false
	}
	printed := s.String()
	again, err := schedule.Parse(printed)
	require.NoError(t, err, printed)
	require.Equal(t, printed, again.String())
	work := 0
	for rank := range s.Spec.Ranks {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done() && work <= mostWork; c.Next(1) {
				work++
			}
		}
	}
	if work > mostWork {
		return true, false
	}
	began := time.Now()
	for _, o := range []Options{{}, {Slots: 1, Iterations: 1}, {Rendezvous: true}} {
		p, found := Verify(s, o)
		require.True(t, p != nil || len(found) > 0, text)
		right = right || p != nil
	}
	require.Less(t, time.Since(began), 10*time.Second, text)
	return true, right
}

// TestAttack: random texts; some must be read, and some of these right, or nothing is tested.
func TestAttack(t *testing.T) {
	read, right := 0, 0
	attacks := tier.Of(2000, 40_000)
	for seed := range uint64(attacks) {
		was, good := hold(t, attacker{rand.New(rand.NewPCG(seed, 11))}.text())
		if was {
			read++
		}
		if good {
			right++
		}
	}
	t.Logf("%d texts, %d read, %d right", attacks, read, right)
	require.Greater(t, read, attacks/100)
	require.Greater(t, right, attacks/1000)
}

// FuzzVerify: no text makes the proof panic, or go on for long.
func FuzzVerify(f *testing.F) {
	for seed := range uint64(32) {
		f.Add(attacker{rand.New(rand.NewPCG(seed, 11))}.text())
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := schedule.Parse(text); err == nil && s.Spec.Ranks <= 64 {
			hold(t, text)
		}
	})
}
