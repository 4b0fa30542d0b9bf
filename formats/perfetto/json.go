package perfetto

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// jsonWriter writes events, one a line. The fields are those of Google's "Trace Event Format": M
// names processes and threads, X is a slice, s and f are the ends of an arrow, C is a counter.
type jsonWriter struct {
	*view
	out   *bufio.Writer
	first bool
}

func writeJSON(w io.Writer, v *view) error {
	j := &jsonWriter{view: v, out: bufio.NewWriterSize(w, 1<<16), first: true}
	j.out.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	j.writeNames()
	j.writeSlices()
	j.writeBrackets()
	j.writeCounters()
	j.out.WriteString("\n]}\n")
	return j.out.Flush() // with the first error of any write
}

// event writes an event; format has its fields without the braces.
func (j *jsonWriter) event(format string, values ...any) {
	if !j.first {
		j.out.WriteByte(',')
	}
	j.first = false
	j.out.WriteString("\n{")
	fmt.Fprintf(j.out, format, values...)
	j.out.WriteByte('}')
}

// writeNames names the rows and states their order, which not every viewer respects.
func (j *jsonWriter) writeNames() {
	const name = `"ph":"M","name":"%s_name","pid":%d%s,"args":{"name":%s}`
	const order = `"ph":"M","name":"%s_sort_index","pid":%d%s,"args":{"sort_index":%d}`
	for n, p := range j.processes {
		j.event(name, "process", p.pid, "", quoted(p.name))
		j.event(order, "process", p.pid, "", n)
	}
	for _, t := range j.threads {
		pid, tid := j.processes[t.process].pid, fmt.Sprintf(`,"tid":%d`, t.tid)
		j.event(name, "thread", pid, tid, quoted(t.name))
		j.event(order, "thread", pid, tid, t.order)
	}
}

func (j *jsonWriter) writeSlices() {
	var args []arg
	var text []byte
	for n, i := range j.trace.Intervals {
		t := j.threads[i.Track]
		start, end := nanoseconds(i.Start), nanoseconds(i.End)
		where := fmt.Sprintf(`"pid":%d,"tid":%d,"ts":%s`, j.processes[t.process].pid, t.tid,
			microseconds(start))
		args = appendArgs(args[:0], i)
		text = appendJSON(text[:0], args)
		j.event(`"ph":"X","name":"%s","cat":"step",%s,"dur":%s,"args":{%s}`,
			i.Name(), where, microseconds(end-start), text)
		const arrow = `"ph":"%s","name":"message","cat":"message","id":%d,%s`
		for _, m := range j.arrows.taken.of(int32(n)) {
			j.event(arrow+`,"bp":"e"`, "f", m+1, where)
		}
		for _, m := range j.arrows.sent.of(int32(n)) {
			j.event(arrow, "s", m+1, where)
		}
	}
}

// writeBrackets writes the slices of rows.
func (j *jsonWriter) writeBrackets() {
	for _, b := range j.trace.Brackets {
		t := j.threads[len(j.trace.Tracks)+int(b.Row)]
		start, end := nanoseconds(b.Start), nanoseconds(b.End)
		j.event(`"ph":"X","name":%s,"cat":"bracket","pid":%d,"tid":%d,"ts":%s,"dur":%s,"args":{%s}`,
			quoted(bracketName(b)), j.processes[t.process].pid, t.tid, microseconds(start),
			microseconds(end-start), appendJSON(nil, appendBracketArgs(nil, b)))
		for _, w := range b.Waits {
			start, end := nanoseconds(w.From), nanoseconds(w.To)
			j.event(`"ph":"X","name":%s,"cat":"wait","pid":%d,"tid":%d,"ts":%s,"dur":%s,"args":{%s}`,
				quoted(j.waitName(b, w)), j.processes[t.process].pid, t.tid, microseconds(start),
				microseconds(end-start), appendJSON(nil, appendWaitArgs(nil, w)))
		}
	}
}

// appendJSON appends facts as the members of an object.
func appendJSON(text []byte, args []arg) []byte {
	for n, a := range args {
		if n > 0 {
			text = append(text, ',')
		}
		text = append(strconv.AppendQuote(text, a.name), ':')
		text = strconv.AppendInt(text, a.value, 10)
	}
	return text
}

func (j *jsonWriter) writeCounters() {
	for _, g := range j.groups {
		for _, c := range g.counters {
			for _, l := range c.levels {
				j.event(`"ph":"C","name":%s,"pid":%d,"ts":%s,"args":{"%s":%s}`, quoted(c.name),
					j.processes[g.process].pid, microseconds(l.ns), g.unit,
					strconv.FormatFloat(l.value, 'g', -1, 64))
			}
		}
	}
}

// microseconds formats nanoseconds in the format's unit, with three decimals.
func microseconds(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

// quoted quotes a JSON string and leaves the arrow of a link's name readable.
func quoted(s string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("perfetto: a string that is no JSON: " + err.Error())
	}
	return string(bytes.TrimRight(out.Bytes(), "\n"))
}
