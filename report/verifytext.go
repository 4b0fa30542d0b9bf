package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/formats"
	"collsim/internal/prose"
	"collsim/proof"
	"collsim/run"
	"collsim/schedule"
)

// VerificationText formats what is proven of a schedule, or every violation.
func VerificationText(v *run.Verification) string {
	var b strings.Builder
	name := v.File
	if v.ID != "" {
		name += ": " + v.ID
	}
	if !v.Good() {
		writeFailures(v, &b, name)
		return b.String()
	}
	format := ""
	if isForeign(v) {
		format = " (" + v.Format + ")"
	}
	if v.Schedule == nil {
		fmt.Fprintf(&b, "%s: OK%s, nothing to prove\n", name, format)
	} else {
		fmt.Fprintf(&b, "%s: OK%s\n", name, format)
		writeFacts(v, &b)
	}
	writeRemarks(v, &b)
	return b.String()
}

// isForeign reports whether the schedule came from a file of another project's format.
func isForeign(v *run.Verification) bool {
	return v.Format != formats.Text &&
		v.Format != "scenario"
}

// maxPrinted is the most violations that are printed: an error on hundreds of ranks is mostly the
// same on all.
const maxPrinted = 20

// writeFailures prints violations, and the collective that a file was judged as.
func writeFailures(v *run.Verification, b *strings.Builder, name string) {
	for i, x := range v.Violations {
		if i == maxPrinted && len(v.Violations) > maxPrinted+1 {
			fmt.Fprintf(b, "%s: … %d more; --json has all\n", name, len(v.Violations)-maxPrinted)
			break
		}
		if x.Place != nil {
			fmt.Fprintf(b, "%v\n", x)
			continue
		}
		fmt.Fprintf(b, "%s: %v\n", name, x)
	}
	if !isForeign(v) {
		return
	}
	fmt.Fprintf(b, "%s: WRONG (%s): %s\n", name, v.Format,
		prose.Plural(len(v.Violations), "violation"))
	if v.Schedule != nil {
		hint := ""
		if slices.ContainsFunc(v.Violations, func(x run.Violation) bool { return byKind(v, x) }) {
			hint = "; --as KIND judges it as another"
		}
		fmt.Fprintf(b, "  judged   as %s%s\n", problemText(v), hint)
	}
	writeRemarks(v, b)
}

// byKind reports whether a violation might vanish if the file were judged as another kind of
// collective: another output is wanted, or the kind has no operator for a step that combines.
func byKind(v *run.Verification, x run.Violation) bool {
	if x.Kind == schedule.Malformed.String() {
		return x.Rank >= 0 && x.Step >= 0 && v.Schedule.Spec.Op == 0
	}
	return x.Rank >= 0 && x.Lane < 0 && slices.Contains([]string{schedule.Missing.String(),
		schedule.Doubled.String(), schedule.Misplaced.String()}, x.Kind)
}

// problemText describes the collective, the number of ranks and the size.
func problemText(v *run.Verification) string {
	spec := v.Schedule.Spec
	if size := v.Schedule.Contents(); size.Tensors > 0 {
		return contentsText(size, spec.Ranks)
	}
	text := spec.Kind.String()
	if c := v.Causal; c != nil && c.Kind != collective.Custom {
		text = c.Kind.String()
		if c.Kind.Rooted() {
			text += fmt.Sprintf(" from rank %d", c.Root)
			if c.Kind == collective.Reduce || c.Kind == collective.Gather {
				text = strings.Replace(text, "from", "to", 1)
			}
		}
		return text + fmt.Sprintf(" on %s, messages without data", prose.Plural(spec.Ranks, "rank"))
	}
	if f, _ := formats.Lookup(v.Format); f.Dataless {
		return fmt.Sprintf("messages without data on %s; --as KIND says what they are to be",
			prose.Plural(spec.Ranks, "rank"))
	}
	if spec.Op != 0 && spec.Kind.Reduces() {
		text += " " + spec.Op.String()
	}
	text += " on " + prose.Plural(spec.Ranks, "rank")
	if spec.Kind == collective.Barrier {
		return text
	}
	if text += fmt.Sprintf(", %v of %v", spec.Bytes(), spec.Type); spec.InPlace {
		text += ", in place"
	}
	return text
}

// contentsText describes a program: "program of 1 kernel and 2 collectives in 3 parts on 4 ranks,
// 768 B in 6 tensors on each". Each part is defined by its collective, or by its lines.
func contentsText(size schedule.Contents, ranks int) string {
	text := fmt.Sprintf("program of %s and %s", prose.Plural(size.Kernels, "kernel"),
		prose.Plural(size.Collectives, "collective"))
	if size.Parts > 0 {
		text += " in " + prose.Plural(size.Parts, "part")
	}
	return text + fmt.Sprintf(" on %s, %v in %s on each", prose.Plural(ranks, "rank"), size.Bytes,
		prose.Plural(size.Tensors, "tensor"))
}

// writeFacts prints what is proven.
func writeFacts(v *run.Verification, b *strings.Builder) {
	spec, p := v.Schedule.Spec, v.Proof
	fmt.Fprintf(b, "  problem  %s\n", problemText(v))
	depth := fmt.Sprint(p.MinSlots)
	if isForeign(v) && v.Slots > 0 {
		depth += fmt.Sprintf(" of %d", v.Slots)
	}
	fmt.Fprintf(b, "  proof    %s, no deadlock (FIFO depth %s), no race\n",
		v.Proven(), depth)
	if p.Walked == 1 && spec.Ranks > 1 {
		fmt.Fprintf(b, "  walked   rank 0, which stands for all %d: they do the same\n", spec.Ranks)
	}
	writeCalls(v, b)
	fmt.Fprintf(b, "  moves    %s, %s, %d bytes sent\n", prose.Plural(p.Rounds, "round"),
		prose.Plural(p.Messages, "message"), p.BytesSent)
	if isForeign(v) {
		least, most := sentBy(p, spec.Ranks)
		fmt.Fprintf(b, "  ranks    %s of them in all, %s bytes sent by each, %d bytes of scratch\n",
			prose.Plural(p.Steps, "step"), prose.Between(least, most, " to "), scratchBytes(v))
	}
	if spec.Kind.Reduces() && !v.Schedule.Computes() {
		order, tree := "not in rank order: the operator must commute", ""
		if p.KeepsRankOrder {
			order = "in rank order"
		}
		if !p.SameTree {
			tree = "; ranks add in different orders: bits may differ"
		}
		fmt.Fprintf(b, "  sums     %s%s\n", order, tree)
	}
}

// writeCalls prints whether calls may follow one another, for schedules whose calls could
// interfere.
func writeCalls(v *run.Verification, b *strings.Builder) {
	switch {
	case v.Calls == 2 && v.Schedule.OneSided():
		fmt.Fprintln(b, "  calls    also back to back, without a barrier between the ranks")
	case v.Calls == 1:
		fmt.Fprintf(b, "  calls    one at a time; one that begins before all ranks have ended "+
			"the last would meet it:\n           %v\n", v.NextCall[0])
		if more := len(v.NextCall) - 1; more > 0 {
			fmt.Fprintf(b, "           and %d more\n", more)
		}
	}
}

// writeRemarks prints the sizes for which the verdict holds, the calls of a file of requests, and
// notes.
func writeRemarks(v *run.Verification, b *strings.Builder) {
	if v.Sizes != "" {
		fmt.Fprintf(b, "  sizes    %s\n", sizesText(v))
	}
	for _, line := range sizeRangesText(v) {
		fmt.Fprintf(b, "           %s\n", line)
	}
	for _, call := range v.Made {
		fmt.Fprintf(b, "  call     %s\n", call)
	}
	for _, note := range v.Notes {
		fmt.Fprintf(b, "  note     %s\n", note)
	}
}

// sizesText describes the supported sizes: "OK for every size that 8 chunks divide; …".
func sizesText(v *run.Verification) string {
	if v.Good() && len(v.Ranges) < 2 &&
		(strings.HasPrefix(v.Sizes, "every ") || strings.HasPrefix(v.Sizes, "the ")) {
		return "OK for " + v.Sizes
	}
	return v.Sizes
}

// sizeRangesText makes a line for each range of sizes, where verdicts differ: "8 MiB and more: OK".
func sizeRangesText(v *run.Verification) (lines []string) {
	if len(v.Ranges) < 2 {
		return nil
	}
	for _, r := range v.Ranges {
		line := fmt.Sprintf("%v to %v: ", r.From, r.To)
		if r.To == 0 {
			line = fmt.Sprintf("%v and more: ", r.From)
		}
		switch {
		case !r.Judged:
			line += "not judged; --bytes judges one of them"
		case r.Violation == nil:
			line += "OK"
		default:
			first, _, _ := strings.Cut(r.Violation.String(), "\n")
			line += first
		}
		lines = append(lines, line)
	}
	return lines
}

// sentBy returns the least and the most bytes that a rank sends.
func sentBy(p *proof.Proof, ranks int) (least, most int64) {
	sent := sentBytes(p, ranks)
	return slices.Min(sent), slices.Max(sent)
}

// sentBytes returns the bytes that every rank sends. Sums that a switch sends belong to no rank.
func sentBytes(p *proof.Proof, ranks int) []int64 {
	sent := make([]int64, ranks)
	for _, f := range p.Traffic {
		if f.From >= 0 {
			sent[f.From] += f.Bytes
		}
	}
	return sent
}

// scratchBytes returns the size of every rank's scratch buffer.
func scratchBytes(v *run.Verification) int64 {
	return v.Schedule.Memory * int64(v.Schedule.Spec.Type.Width())
}
