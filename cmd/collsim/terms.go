package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collsim/internal/nearest"
	"collsim/internal/prose"
)

// term is a word of the field, or of collsim's output, with what it means.
type term struct {
	names string // separated by commas; the first is its own
	means string
}

// terms lists the glossary that `collsim help TERM` prints, by subject.
func terms() []term { return slices.Concat(scheduleTerms(), networkTerms(), resultTerms()) }

// scheduleTerms lists the words for who does what.
func scheduleTerms() []term {
	return []term{
		{"rank",
			"A GPU that takes part in a collective, by its number from 0. Ranks are placed on the " +
				"GPUs of nodes in order, unless topology.order says otherwise."},
		{"node, host, server", "A machine with one or several GPUs, and NICs to other nodes."},
		{"peer", "The rank that another one sends to or receives from in a step."},
		{"root", "The rank that broadcast and scatter begin at, and reduce and gather end at."},
		{"collective, kind",
			"An operation of several ranks together: all_reduce, all_gather, reduce_scatter, " +
				"all_to_all, broadcast and others. `collsim list algorithms` prints those of each."},
		{"algorithm",
			"How a collective is done: who sends what to whom, in which order. `collsim list " +
				"algorithms` prints all."},
		{"schedule",
			"An algorithm at one size and number of ranks: the steps of every rank. `collsim verify` " +
				"proves it."},
		{"step", "One action of a lane: receive, add, copy, send, in one pass over a chunk."},
		{"lane, thread block",
			"A sequence of steps of a rank; lanes of a rank go on independently. A channel has one or" +
				" several."},
		{"channel",
			"A copy of an algorithm on its own part of the data. Several together fill links that one" +
				" cannot; each takes an SM of every GPU."},
		{"chunk, block", "A part of a rank's buffer that steps name. A ring over n ranks has n."},
		{"slice, tile, segment",
			"A part of a chunk, so that sending one overlaps with receiving the next."},
		{"slot, FIFO depth",
			"Room for a message at the end of a connection. A sender waits where all are taken. " +
				"`min_slots` is the least number with which nothing deadlocks."},
		{"message", "What one send moves: a chunk, or a slice of it."},
		{"stream",
			"A queue of work on a GPU, in order. Collectives and kernels on several streams overlap."},
		{"ring",
			"Every rank sends to the next. It moves the fewest bytes, and takes about 2·(n − 1) steps" +
				" one after the other."},
		{"tree",
			"Ranks add up towards a root and send the result back. It takes about 2·log₂ n steps, and" +
				" moves as many bytes as a ring when two trees share the work."},
	}
}

// networkTerms lists the words for how data travels.
func networkTerms() []term {
	return []term{
		{"protocol, LL, LL128, Simple",
			"How NCCL's messages say that data has arrived: LL by a flag beside every 4 bytes (half " +
				"of the bandwidth, the least latency), LL128 by one in 128 bytes, Simple by a flag after " +
				"each chunk (full bandwidth)."},
		{"NVLS, multimem, SHARP",
			"The switch adds what several GPUs have, and sends the result to all: NVLink SHARP within" +
				" a node, SHARP over several hops between nodes (CollNet)."},
		{"PXN",
			"A message leaves a node through the GPU that is close to the destination's rail, over " +
				"NVLink first."},
		{"rail",
			"NIC i of every node on a switch of its own. Messages between GPUs of the same place " +
				"cross one switch."},
		{"route", "The links that a message crosses, in order."},
		{"oversubscription",
			"How many links go down from a switch for each that goes up. With 2, ranks below it get " +
				"half of their rate when all send far away."},
		{"ECMP",
			"Messages are spread over routes of equal length by a hash of their ends, not of their " +
				"load."},
		{"alpha, beta, latency, bandwidth",
			"A message of n bytes takes alpha + n · beta: the latencies of its links, and n over the " +
				"bandwidth of the slowest."},
	}
}

// resultTerms lists the words of results.
func resultTerms() []term {
	return []term{
		{"time, time_ps",
			"From the common start of all ranks to the end of the last, of one call alone."},
		{"call, call_ps",
			"The time of a call in a loop of them, one directly after the other, as nccl-tests " +
				"measures it: with [benchmark]."},
		{"algbw",
			"Bytes of the collective over its time, in GB/s of 10⁹ bytes. It falls with the number of" +
				" ranks even on a perfect network."},
		{"busbw",
			"algbw times a factor of the kind: 2·(n − 1)/n for all_reduce, (n − 1)/n for all_gather, " +
				"reduce_scatter and all_to_all, 1 for the others. A perfect ring reaches the rate of its " +
				"links, whatever n. It is no rate of a wire: with NVLS, or within a node, it may be more."},
		{"%bound, bound",
			"The largest proven lower bound of the time over the time. No schedule on this network " +
				"exceeds 100 %."},
		{"closed form",
			"The published cost of an algorithm on links that nobody shares. `explain` prints it " +
				"beside the time, with the reason of the difference."},
		{"FCT, flow completion time",
			"How long a message takes from its first byte to its last: in a trace, the length of its " +
				"interval."},
		{"cycles", "No unit here: times are picoseconds in files, microseconds in tables."},
		{"#wrong", "Elements that are not what the definition of the collective gives."},
		{"ulp",
			"The distance of two neighbouring numbers of a type: an error of 1 ulp is the least there" +
				" is."},
		{"exposed", "Time of a program in which a rank does nothing but wait for a collective."},
		{"in place", "Input and output are one buffer."},
		{"straggler", "A rank that is later or slower than the others: `[[topology.rank]]`."},
		{"proof",
			"That every output is the reduction of exactly the right inputs, for every input; that " +
				"nothing deadlocks, and that no two accesses race."},
		{"fluid, fifo",
			"How messages share a link: all at once and max-min fairly, or one after the other " +
				"(sim.sharing)."},
	}
}

// findTerm returns the term of a name, whatever its case.
func findTerm(name string) (t term, ok bool) {
	for _, t := range terms() {
		if slices.ContainsFunc(strings.Split(t.names, ", "), func(one string) bool {
			return strings.EqualFold(one, name)
		}) {
			return t, true
		}
	}
	return t, false
}

// termText formats a term.
func termText(t term) string {
	lines := prose.Wrap(t.means, prose.Columns-4, "    ", "    ")
	return t.names + "\n" + strings.Join(lines, "\n") + "\n"
}

// termNames lists all names of all terms.
func termNames() (names []string) {
	for _, t := range terms() {
		names = append(names, strings.Split(t.names, ", ")...)
	}
	return names
}

// unknownTopic returns the error for an argument of help that is neither a command nor a term.
func unknownTopic(name string, commands []*cobra.Command) error {
	e := &usageError{Text: "help " + name + ": neither a command nor a term of that name",
		Hint: "commands: collsim help; terms: collsim help terms"}
	names := termNames()
	for _, c := range commands {
		names = append(names, c.Name())
	}
	if near := nearest.To(name, names, 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return e
}
