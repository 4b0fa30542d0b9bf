package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/sim"
	"collsim/unit"
)

// maxShares is the most shares that are printed; JSON has them all.
const maxShares = 8

// ExplanationText formats an explanation in lines of 80 columns where that is possible.
func ExplanationText(e *run.Explanation) string {
	var b strings.Builder
	r := e.Result
	head := headingPicked(r) + ", " + r.Point.Spec.Bytes().String()
	if axes := axesText(r.Point, true); axes != "" {
		head += ", " + axes
	}
	if !r.Timed {
		wrap(&b, "", head+": comes to no end")
		for _, v := range r.Violations {
			b.WriteString("  " + strings.ReplaceAll(v.String(), "\n", "\n  ") + "\n")
		}
		return b.String()
	}
	head += ": " + us(r.Time) + " us"
	if bw, ok := r.BusBW(); ok {
		head += fmt.Sprintf(", busbw %.2f GB/s", bw)
	}
	if reached, ok := r.BoundReached(); ok {
		head += ", " + percent(reached) + " % of the bound"
	}
	wrap(&b, "", head)
	wrap(&b, "", strings.Join(slices.DeleteFunc([]string{r.Network, deviceText(r.Point.Device),
		simText(r.Point.Sim)}, func(s string) bool { return s == "" }), ", "))
	for _, w := range r.Warnings {
		wrap(&b, "note: ", w)
	}
	writeLines(&b, "", knownLines([]*run.Result{r}))
	pathLines(e, &b)
	for _, w := range []*run.WhatIf{e.Unlimited, e.NoLatency} {
		if w != nil {
			then := "nothing is left"
			if w.Then != nil {
				then = "then " + shareName(*w.Then)
			}
			figure(&b, whatIfName(w), w.Time, then)
		}
	}
	if r.ClosedForm >= 0 {
		figure(&b, "closed form", r.ClosedForm, difference(r.Time, r.ClosedForm))
		wrap(&b, "  ", e.Formula)
	}
	writeCosts(&b, e.NCCL)
	if r.Unbounded {
		return b.String()
	}
	partial := ""
	if r.Bounds.Partial {
		partial = "search cut short" // see bounds.MaxWork
	}
	figure(&b, "no schedule beats", r.Bounds.Lower, partial)
	if r.Bounds.Bandwidth > 0 {
		figure(&b, "  bandwidth: "+r.Bounds.Cut, r.Bounds.Bandwidth, "")
	}
	figure(&b, "  latency", r.Bounds.Latency, "")
	if r.Bounds.Reduction > 0 {
		figure(&b, "  additions", r.Bounds.Reduction, "")
	}
	return b.String()
}

// pathLines prints the shares of the critical path.
func pathLines(e *run.Explanation, b *strings.Builder) {
	if len(e.Shares) == 0 {
		return
	}
	fmt.Fprintf(b, "critical path    share          us  what\n")
	line := func(name string, tenths int, t unit.Time, note string) {
		start := fmt.Sprintf("  %-13s %4d.%d %% %11s  ", name, tenths/10, tenths%10, us(t))
		wrap(b, start, note)
	}
	tenths := tenthsOf(e.Shares, e.Result.Time)
	rest, restTenths := unit.Time(0), 0
	for i, s := range e.Shares {
		if i >= maxShares-1 && len(e.Shares) > maxShares {
			rest, restTenths = rest+s.Time, restTenths+tenths[i]
			continue
		}
		line(s.What.String(), tenths[i], s.Time, shareNote(s, e.Result.Time))
	}
	if more := len(e.Shares) - maxShares + 1; more > 1 {
		line(fmt.Sprintf("%d more", more), restTenths, rest, "")
	}
}

// tenthsOf rounds shares to tenths of a percent that sum up to 100 %. Those with the largest
// remainders are rounded up.
func tenthsOf(list []run.Share, total unit.Time) []int {
	tenths, lost, order := make([]int, len(list)), make([]float64, len(list)), make([]int, len(list))
	left := 1000
	for i, s := range list {
		exact := float64(float64(s.Time) / float64(total) * 1000)
		whole := math.Floor(exact)
		tenths[i], lost[i], order[i] = int(whole), exact-whole, i
		left -= tenths[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case lost[a] > lost[b]:
			return -1
		case lost[a] < lost[b]:
			return 1
		}
		return 0
	})
	for i := 0; i < left && i < len(order); i++ {
		tenths[order[i]]++
	}
	return tenths
}

// shareNote names the key or the links to change in order to lower a share.
func shareNote(s run.Share, total unit.Time) string {
	if s.Link != "" {
		text := s.Link
		if s.Like > 1 {
			text += fmt.Sprintf(" and %d alike", s.Like-1)
		}
		if s.What == sim.Latency {
			return text
		}
		return fmt.Sprintf("%s, busy %s %%", text, percent(float64(s.Busy)/float64(total)))
	}
	switch s.What {
	case sim.Start:
		return "ranks that begin late"
	case sim.Compute:
		return "the schedule's own compute steps"
	}
	return shareKey(s)
}

// shareKey returns the scenario's key of a share that is not a link's.
func shareKey(s run.Share) string {
	switch s.What {
	case sim.Overhead:
		return "device.overhead"
	case sim.Reduction:
		return "device.reduce_rate"
	case sim.Copy:
		return "device.copy_rate"
	case sim.SlotLatency:
		return "device.slot_latency"
	case sim.Rendezvous:
		return "device.eager_limit"
	case sim.Launch:
		return "device.launch"
	case sim.MessageLatency:
		return "device.latency"
	case sim.Memory:
		return "device.hbm_bandwidth"
	case sim.EventLatency:
		return "device.event_latency"
	}
	return "device.lane_rate"
}

// shareName names a share in a few words.
func shareName(s run.Share) string {
	if s.Link != "" && s.What != sim.Latency {
		return s.Link
	}
	return s.What.String()
}

// whatIfName describes the change of a what-if run.
func whatIfName(w *run.WhatIf) string {
	switch c := w.Changed; {
	case c.What == sim.Latency:
		return "if the latency were zero"
	case c.What == sim.Compute:
		return "if compute steps took no time"
	case c.What == sim.Overhead || c.What == sim.Launch:
		return "if " + shareKey(c) + " were zero"
	case c.Link == "":
		return "if " + shareKey(c) + " were unlimited"
	case c.Like == 1:
		return "if " + c.Link + " were infinitely fast"
	default:
		return "if " + c.Link + " and alike were infinitely fast"
	}
}

// difference formats how far a time is from a published one, in percent.
func difference(t, published unit.Time) string {
	switch percent := math.Abs(float64(t-published)) / float64(published) * 100; {
	case t == published:
		return "the same"
	case published == 0:
		return us(t) + " us more"
	case t > published:
		return fmt.Sprintf("time is %.1f %% more", percent)
	default:
		return fmt.Sprintf("time is %.1f %% less", percent)
	}
}

// figureWidth is the width of the text before a time.
const figureWidth = 46

// figure prints a time, on a line of its own where the text before is long.
func figure(b *strings.Builder, text string, t unit.Time, note string) {
	if utf8.RuneCountInString(text) > figureWidth {
		words := strings.TrimLeft(text, " ")
		wrap(b, text[:len(text)-len(words)], words)
		text = ""
	}
	gap := strings.Repeat(" ", figureWidth-utf8.RuneCountInString(text))
	wrap(b, fmt.Sprintf("%s%s %10s us  ", text, gap, us(t)), note)
}

// wrap prints words after a start; further lines are indented to the end of the start.
func wrap(b *strings.Builder, start, text string) {
	indent := strings.Repeat(" ", max(2, utf8.RuneCountInString(start)))
	writeLines(b, "", prose.Wrap(text, prose.Columns, start, indent))
}
