package hlo

import (
	"slices"
	"strings"
)

// message adds the ops of sends and receives. A send is a permute of the pairs that XLA's
// send/recv passes write into frontend_attributes; its receive, of the same channel, is complete
// when it has ended. Messages of the host take no time.
func (e *emitter) message(c *computation, i *instr, values []value) (value, error) {
	after := joined(c, i, values)
	if host, _ := i.attr("is_host_transfer"); host == "true" {
		e.note(hostNote)
		return value{after: after}, nil
	}
	channel, text := channelOf(c, i)
	switch i.opcode {
	case "recv", "send-done":
		return value{after: after}, nil
	case "recv-done":
		ops, known := e.sent[channel+text]
		if !known {
			return value{}, e.fail(i, "no send before it has its channel_id or its pairs, as "+
				"_xla_send_recv_source_target_pairs in its frontend_attributes: %q, %q", channel, text)
		}
		return later(value{after: after}, ops), nil
	}
	if text == "" {
		return value{}, e.fail(i, "to whom it sends is not in the file: "+
			"_xla_send_recv_source_target_pairs={{0,1},{1,2}} is expected in its frontend_attributes, "+
			"as XLA's passes write it")
	}
	if len(i.operands) == 0 {
		return value{}, e.fail(i, "a send without an operand")
	}
	ops, known := e.made[i]
	if !known {
		by, err := modeOf(i)
		if err != nil {
			return value{}, e.fail(i, "%v", err)
		}
		to, from, err := e.targets(i, text, by)
		if err != nil {
			return value{}, err
		}
		t, err := c.instrs[i.operands[0]].shape.tensor()
		if err != nil {
			return value{}, e.fail(i, "%v", err)
		}
		if ops, err = e.exchange(i, to, from, []Tensor{t}); err != nil {
			return value{}, err
		}
		e.made[i] = ops
	}
	var sent []int
	for _, o := range ops {
		o.After, o.Async = after, true
		sent = append(sent, e.add(i, o))
	}
	e.sent[channel+text], e.sent[channel] = sent, sent
	return later(value{after: after}, sent), nil
}

// channelOf returns the channel and the pairs of a send or a receive. A done one may have them from
// the other; where that is not in its computation, the last of its channel is meant.
func channelOf(c *computation, i *instr) (channel, pairs string) {
	channel, _ = i.attr("channel_id")
	pairs = pairsOf(i)
	if strings.HasSuffix(i.opcode, "-done") && len(i.operands) > 0 {
		of := &c.instrs[i.operands[0]]
		if channel == "" {
			channel, _ = of.attr("channel_id")
		}
		if pairs == "" {
			pairs = pairsOf(of)
		}
	}
	return channel, pairs
}

// pairsOf returns the pairs of a send, {{0,1},{1,2}}; empty if it has none.
func pairsOf(i *instr) string {
	text, _ := i.attr("frontend_attributes")
	for _, item := range split(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")) {
		name, value, _ := strings.Cut(item, "=")
		if slices.Contains([]string{"_xla_send_recv_source_target_pairs", "source_target_pairs"},
			strings.TrimSpace(name)) {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
