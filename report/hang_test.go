package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/collective/calls"
	"collsim/formats/dumps"
	"collsim/report"
)

// made returns a call of a group.
func made(group int, kind collective.Kind, seq, n int64) calls.Call {
	return calls.Call{Group: group, Kind: kind, Name: kind.String(), Seq: seq, Type: "bfloat16",
		In: n, Out: n, Root: -1, Frame: "step (train.py:8)"}
}

// sent returns an end of a message.
func sent(peer int, sends bool, n int64) calls.Call {
	name := map[bool]string{true: "send", false: "recv"}[sends]
	return calls.Call{Kind: collective.SendRecv, Name: name, Peer: peer, Sends: sends, In: n, Out: n,
		Root: -1}
}

// verdict returns the first lines about calls of ranks in two groups of all.
func verdict(t *testing.T, ranks ...[]calls.Call) string {
	t.Helper()
	d := &dumps.Dump{Form: "calls"}
	d.Groups = []calls.Group{{Name: "0", About: "dp"}, {Name: "1", About: "tp"}}
	for rank, list := range ranks {
		for g := range d.Groups {
			d.Groups[g].Ranks = append(d.Groups[g].Ranks, rank)
		}
		d.Ranks = append(d.Ranks, calls.Rank{Number: rank, Calls: list})
	}
	j := d.Judge()
	_, err := report.HangJSON(d, j)
	require.NoError(t, err)
	text, _, _ := strings.Cut(report.HangText(d, j), "\n# dumps")
	return strings.Join(strings.Fields(text), " ")
}

// TestHangText: a sentence for every fault.
func TestHangText(t *testing.T) {
	const reduce, gather = collective.AllReduce, collective.AllGather
	one := func() []calls.Call {
		return []calls.Call{made(0, reduce, 1, 4), made(0, gather, 2, 8), made(0, reduce, 3, 2)}
	}
	all := func(odd ...calls.Call) string { return verdict(t, one(), one(), odd) }
	for want, got := range map[string]string{
		`nothing hangs here: every call is made by all their ranks alike (9 calls of 3 ranks)`: all(
			one()...),
		`hang: rank 2 is missing from all_gather #2 (bfloat16, 8 elements) of group "dp" (3 ranks); ` +
			`the other 2 wait for it`: all(made(0, reduce, 1, 4)),
		`hang: rank 2 leaves out all_gather #2 (bfloat16, 8 elements) of group "dp" (3 ranks), and ` +
			`calls what is #3 of the others: all_reduce (bfloat16, 2 elements)`: all(
			made(0, reduce, 1, 4), made(0, reduce, 2, 2)),
		`hang: rank 2 makes all_reduce (bfloat16, 9 elements) as #2 of group "dp" (3 ranks), one ` +
			`call more than the others, which call all_gather (bfloat16, 8 elements)`: all(
			made(0, reduce, 1, 4), made(0, reduce, 2, 9), made(0, gather, 3, 8), made(0, reduce, 4, 2)),
		`hang: rank 2 makes #1 and #2 of group "dp" (3 ranks) in the other order: all_gather ` +
			`(bfloat16, 8 elements) first, where the others call all_reduce (bfloat16, 4 elements)`: all(
			made(0, gather, 1, 8), made(0, reduce, 2, 4), made(0, reduce, 3, 2)),
		`mismatch: rank 2 calls all_reduce #1 of group "dp" (3 ranks) with count 5, the other 2 ` +
			`with 4`: all(made(0, reduce, 1, 5), made(0, gather, 2, 8), made(0, reduce, 3, 2)),
		`hang: rank 2 calls all_gather #1 (bfloat16, 1 element) of group "dp" (3 ranks), the other ` +
			`2 all_reduce (bfloat16, 4 elements)`: all(made(0, gather, 1, 1), made(0, gather, 2, 8)),
		`hang: the kind of call #1 of group "dp" (2 ranks) differs: all_reduce on rank 0, ` +
			`all_gather on rank 1`: verdict(t, one(), []calls.Call{made(0, gather, 1, 1)}),
		`hang: rank 2 waits in all_gather #1 (bfloat16, 8 elements) of group "tp" for ranks that ` +
			`wait in all_reduce #1 (bfloat16, 4 elements) of group "dp" (3 ranks) for it`: verdict(t,
			[]calls.Call{made(0, reduce, 1, 4), made(1, gather, 1, 8)},
			[]calls.Call{made(0, reduce, 1, 4), made(1, gather, 1, 8)},
			[]calls.Call{made(1, gather, 1, 8), made(0, reduce, 1, 4)}),
		`hang: ranks 0 and 1 wait for each other in a circle, from send to rank 1 (4 elements) of ` +
			`group "dp" (2 ranks) on`: verdict(t, []calls.Call{sent(1, true, 4), sent(1, false, 4)},
			[]calls.Call{sent(0, true, 4), sent(0, false, 4)}),
		`hang: rank 1 is missing from send to rank 1 (4 elements) of group "dp" (2 ranks); rank 0 ` +
			`waits for it`: verdict(t, []calls.Call{sent(1, true, 4)}, nil),
		`mismatch: the count of a message of group "dp" from rank 0 to rank 1 differs: 4 on rank 0, ` +
			`5 on rank 1`: verdict(t, []calls.Call{sent(1, true, 4)}, []calls.Call{sent(0, false, 5)}),
	} {
		require.Equal(t, want, got)
	}
}
