package dumps

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"collsim/collective/calls"
	"collsim/formats/internal/loglines"
)

// NCCL's RAS subsystem counts the calls of each rank of a communicator: src/ras/client_support.cc
// of NCCL 2.24 and later. A rank's last number of each collective is one call here, in a group of
// its own. Ranks are those of the communicator.

const rasNote = "RAS answers while a job runs: ask again, and only counts that stay are of a hang"

// isRAS recognises the answer in text.
func isRAS(text []byte) bool {
	return bytes.Contains(text, []byte("Communicators...")) &&
		bytes.Contains(text, []byte("Job summary"))
}

// counted adds the counts of a collective: the last number of every rank that has answered. Those
// that have called it least often wait for nobody.
func (b *builder) counted(comm, spelt string, last map[int]int64) {
	ranks := slices.Sorted(maps.Keys(last))
	g := b.group(comm+" "+spelt, "", ranks)
	b.Groups[g].Name, b.Groups[g].About = comm, "communicator"
	kind, name := kindOf(spelt)
	least := last[ranks[0]]
	for _, rank := range ranks {
		least = min(least, last[rank])
	}
	for _, rank := range ranks {
		r := b.rank(rank)
		if n := last[rank]; n == least {
			r.Marks = append(r.Marks, calls.Mark{Group: g, Enqueued: n, Completed: -1})
		} else {
			r.Calls = append(r.Calls, calls.Call{Group: g, Batch: 1, Seq: n, Kind: kind, Name: name,
				In: -1, Out: -1, Root: -1, State: calls.Started})
		}
	}
}

// rasReader reads the text of an answer, line by line.
type rasReader struct {
	*builder
	sizes              []rasGroup
	comm               string
	size               int
	silent             bool   // the lines that follow name ranks without an answer
	spelt              string // the collective whose counts follow
	count, usual       int64
	last               map[int]int64
	dead               map[string][]int // by communicator
	head, rank, alone  *regexp.Regexp
	many, differ, line *regexp.Regexp
}

// rasGroup is a line of the table: communicators of one size.
type rasGroup struct{ number, comms, size int }

func readRAS(b *builder, f file) error {
	re := regexp.MustCompile
	r := rasReader{builder: b, dead: map[string][]int{},
		line:   re(`^\s*(\d+)\s+(\d+)\s+\d+\s+[\d-]+\s+(\d+)\s+\d+\s+[A-Z]+\s+[A-Z,]+\s*$`),
		head:   re(`^\s*#(\d+)-\d+ \(([0-9a-f]+)\) (\w+)`),
		differ: re(`Communicator ranks have different (\w+) operation counts`),
		many:   re(`^\s*(\d+) ranks have (?:launched up to operation (\d+)|not launched any)`),
		alone:  re(`^\s*Rank (\d+) has (?:launched up to operation (\d+)|not launched any)`),
		rank:   re(`^\s*Rank (\d+) -- `)}
	b.Apart = true
	b.note(rasNote)
	clean := loglines.New()
	for line := range strings.Lines(string(f.text)) {
		for _, p := range clean.Pieces(line) {
			r.read(strings.TrimRight(p.Text, " \n"))
		}
	}
	r.settle()
	if len(r.sizes) == 0 {
		return &ParseError{File: f.name, Text: "no table of communicators is in it"}
	}
	return nil
}

// read reads a line.
func (r *rasReader) read(line string) {
	if m := r.line.FindStringSubmatch(line); m != nil {
		r.sizes = append(r.sizes, rasGroup{atoi(m[1]), atoi(m[2]), min(atoi(m[3]), most)})
	}
	if m := r.head.FindStringSubmatch(line); m != nil {
		r.settle()
		r.comm, r.size, r.silent = m[2], r.sizeOf(atoi(m[1])), m[3] == "INCOMPLETE"
	}
	if m := r.differ.FindStringSubmatch(line); m != nil {
		r.settle()
		r.spelt, r.last, r.usual, r.count = m[1], map[int]int64{}, -1, -1
	}
	if m := r.many.FindStringSubmatch(line); m != nil && r.last != nil {
		r.count = int64(atoi(m[2]))
		if r.usual < 0 { // the first count is that of most, whom RAS may not name
			r.usual = r.count
		}
	}
	if m := r.alone.FindStringSubmatch(line); m != nil && r.last != nil && atoi(m[1]) < r.size {
		r.last[atoi(m[1])] = int64(atoi(m[2]))
	}
	if m := r.rank.FindStringSubmatch(line); m != nil && atoi(m[1]) < r.size {
		switch {
		case r.last != nil && r.count >= 0:
			r.last[atoi(m[1])] = r.count
		case r.silent && r.comm != "":
			g := r.group(r.comm, "communicator", upTo(r.size))
			r.Groups[g].Silent = append(r.Groups[g].Silent, atoi(m[1]))
			r.dead[r.comm] = r.Groups[g].Silent
		}
	}
}

// sizeOf returns the size of the communicators of a line of the table.
func (r *rasReader) sizeOf(number int) int {
	for _, one := range r.sizes {
		if one.number == number {
			return one.size
		}
	}
	return 0
}

// settle adds the counts that have been read. Ranks that are not named have those of most.
func (r *rasReader) settle() {
	if r.last != nil && r.size > 0 {
		for rank := range r.size {
			_, named := r.last[rank]
			if !named && r.usual >= 0 && !slices.Contains(r.dead[r.comm], rank) {
				r.last[rank] = r.usual
			}
		}
		if len(r.last) > 0 {
			r.counted(r.comm, r.spelt, r.last)
		}
	}
	r.last, r.silent = nil, false
}

// upTo lists the ranks below n.
func upTo(n int) []int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i
	}
	return ranks
}

// atoi parses digits; what is too large is 0.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n > 1<<40 {
		return 0
	}
	return n
}

// readRASJSON reads the answer in JSON (ncclras -f json), which has the counts of every rank.
func readRASJSON(b *builder, f file) error {
	v, err := parseJSON(f)
	if err != nil {
		return err
	}
	comms, err := v.get("communicators").list()
	if err != nil {
		return err
	}
	b.Apart = true
	b.note(rasNote)
	for _, comm := range comms {
		if err := readComm(b, comm); err != nil {
			return err
		}
	}
	return nil
}

// readComm reads a communicator.
func readComm(b *builder, comm value) error {
	name, err := comm.get("hash").text()
	if err != nil {
		return err
	}
	name = strings.TrimPrefix(name, "0x")
	size, err := comm.get("size").whole(0)
	if err == nil && (size < 1 || size > most) {
		err = comm.get("size").wrong(fmt.Sprintf("1 to %d ranks are expected", most))
	}
	if err != nil {
		return err
	}
	all := upTo(int(size))
	missing, err := comm.get("missing_ranks").list()
	if err != nil {
		return err
	}
	for _, one := range missing {
		rank, err := one.get("rank").rank()
		if err != nil {
			return err
		}
		g := b.group(name, "communicator", all)
		b.Groups[g].Silent = append(b.Groups[g].Silent, rank)
	}
	return readCounts(b, name, comm.get("ranks"))
}

// readCounts reads how often each rank of a communicator has called each collective.
func readCounts(b *builder, name string, of value) error {
	ranks, err := of.list()
	if err != nil {
		return err
	}
	last := map[string]map[int]int64{}
	for _, one := range ranks {
		rank, err := one.get("rank").rank()
		if err != nil {
			return err
		}
		counts, _ := one.get("collective_counts").is.(map[string]any)
		for _, spelt := range sortedKeys(counts) {
			n, err := one.get("collective_counts").get(spelt).whole(0)
			if err != nil {
				return err
			}
			if last[spelt] == nil {
				last[spelt] = map[int]int64{}
			}
			last[spelt][rank] = n
		}
	}
	for _, spelt := range sortedKeys(last) {
		counts := last[spelt]
		ranks := slices.Sorted(maps.Keys(counts))
		if slices.ContainsFunc(ranks, func(rank int) bool { return counts[rank] != counts[ranks[0]] }) {
			b.counted(name, spelt, counts)
		}
	}
	return nil
}
