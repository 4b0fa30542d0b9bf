package dumps

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"collsim/collective/calls"
)

// PyTorch's watchdog writes which call of a rank has timed out, and the numbers of the last calls
// that were enqueued and completed: ProcessGroupNCCL.cpp of versions 1.13 to 2.10.

// isWatchdog recognises a log with such lines.
func isWatchdog(text []byte) bool {
	return bytes.Contains(text, []byte("Watchdog caught collective operation timeout")) ||
		bytes.Contains(text, []byte("ast enqueued ")) && bytes.Contains(text, []byte("ast completed "))
}

// watchdog reads a log.
type watchdog struct {
	*builder
	timeout, status, who *regexp.Regexp
	late                 map[int][]calls.Call // by rank: those whose group is not known yet
}

func readWatchdog(b *builder, f file) error {
	re := regexp.MustCompile
	w := watchdog{builder: b, late: map[int][]calls.Call{},
		who: re(`\[(?:rank|default)(\d+)\]`),
		timeout: re(`\[Rank (\d+)\].*Watchdog caught collective operation timeout: ` +
			`WorkNCCL\((?:SeqNum=(\d+), )?OpType=(\w+)(?:, NumelIn=(\d+), NumelOut=(\d+))?.*?\)`),
		status: re(`\[PG (?:ID )?(\S+?)(?: PG GUID ([^\s(]+)(?:\(([^)]*)\))?)? Rank (\d+)\].*?` +
			`(?:(?:at work(?: sequence id)?|at NCCL work): (-?\d+).*?)?` +
			`[Ll]ast enqueued (?:NCCL )?work: (-?\d+), last completed (?:NCCL )?work: (-?\d+)`)}
	number := 0
	for line := range strings.Lines(string(f.text)) {
		number++
		if err := w.read(f, number, strings.TrimRight(line, "\r\n")); err != nil {
			return err
		}
	}
	w.settle()
	if len(b.Ranks) == 0 {
		return &ParseError{File: f.name, Text: "no rank is named in what the watchdog writes"}
	}
	b.note("the watchdog names ranks that wait; a rank that is nowhere in the log has not waited, " +
		"or has ended")
	return nil
}

// read reads a line. Its rank is that of the launcher's prefix, or else of its text, which counts
// within the group.
func (w *watchdog) read(f file, number int, line string) error {
	timeout, status := w.timeout.FindStringSubmatch(line), w.status.FindStringSubmatch(line)
	spelt := ""
	switch {
	case timeout != nil:
		spelt = timeout[1]
	case status != nil:
		spelt = status[4]
	default:
		return nil
	}
	if m := w.who.FindStringSubmatch(line); m != nil {
		spelt = m[1]
	} else if f.rank >= 0 {
		spelt = strconv.Itoa(f.rank)
	}
	rank := atoi(spelt)
	if rank >= most {
		return &ParseError{File: f.name, Line: number, Key: "rank", Value: spelt,
			Text: fmt.Sprintf("at most %d is possible", most-1)}
	}
	if timeout != nil {
		w.timedOut(rank, timeout)
	} else {
		w.progress(rank, status)
	}
	return nil
}

// timedOut keeps a call until a line names its group.
func (w *watchdog) timedOut(rank int, m []string) {
	c := calls.Call{Seq: int64(atoi(m[2])), In: -1, Out: -1, Root: -1, State: calls.Started,
		Batch: 1}
	c.Kind, c.Name = kindOf(m[3])
	if m[4] != "" {
		c.In, c.Out = int64(atoi(m[4])), int64(atoi(m[5]))
	}
	w.rank(rank)
	w.late[rank] = append(w.late[rank], c)
}

// progress reads how far a rank has come in a group.
func (w *watchdog) progress(rank int, m []string) {
	name, about := m[1], m[3]
	if m[2] != "" {
		name = m[2]
	}
	g := w.group(name, about, nil)
	r := w.rank(rank)
	mark := calls.Mark{Group: g, Enqueued: int64(atoi(m[6])), Completed: int64(atoi(m[7]))}
	if strings.HasPrefix(m[6], "-") {
		mark.Enqueued = -1
	}
	if i := slices.IndexFunc(r.Marks, func(o calls.Mark) bool { return o.Group == g }); i >= 0 {
		r.Marks[i] = mark
	} else {
		r.Marks = append(r.Marks, mark)
	}
	for i, c := range w.late[rank] {
		if c.Seq == int64(atoi(m[5])) {
			c.Group = g
			r.Calls = append(r.Calls, c)
			w.late[rank] = slices.Delete(w.late[rank], i, i+1)
			return
		}
	}
}

// settle gives calls whose group no line names the only one, or one without a name.
func (w *watchdog) settle() {
	for i := range w.Ranks {
		r := &w.Ranks[i]
		for _, c := range w.late[r.Number] {
			if len(w.Groups) != 1 {
				c.Group = w.group("", "", nil)
			}
			r.Calls = append(r.Calls, c)
		}
	}
	top := 0
	for i := range w.Ranks {
		top = max(top, w.Ranks[i].Number)
	}
	for g := range w.Groups { // the group of all: ranks that are not heard of are in it, too
		if a := w.Groups[g].About; a == "default_pg" || a == "" && len(w.Groups) == 1 {
			w.Groups[g].Ranks = upTo(top + 1)
		}
	}
}
