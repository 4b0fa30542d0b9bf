package dumps_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/collective/calls"
	"collsim/formats/dumps"
)

// TestWatchdogReadsBack: what is written of a job that hangs leads its reader to the same ranks:
// one is at the second call, one has died, the others wait in the third.
func TestWatchdogReadsBack(t *testing.T) {
	l := &calls.Log{Groups: []calls.Group{{Name: "0", About: "default_pg",
		Ranks: []int{0, 1, 2, 3, 4}, Silent: []int{4}}}}
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter}
	for rank, made := range []int{3, 2, 3, 3, 1} {
		r := calls.Rank{Number: rank}
		for i, k := range kinds[:made] {
			c := calls.Call{Seq: int64(i + 1), Kind: k, Name: k.String(), In: 8, Out: 40, Root: -1,
				State: calls.Completed}
			if i == 2 {
				c.State = calls.Started
			}
			r.Calls = append(r.Calls, c)
		}
		l.Ranks = append(l.Ranks, r)
	}
	lines := dumps.Watchdog(l)
	require.Len(t, lines, 6, "of ranks 0, 2 and 3")
	require.Equal(t, "[rank2]: [Rank 2] Watchdog caught collective operation timeout: "+
		"WorkNCCL(SeqNum=3, OpType=_REDUCE_SCATTER_BASE, NumelIn=8, NumelOut=40, Timeout(ms)=600000) "+
		"ran for 600000 milliseconds before timing out.", lines[2])
	d, err := dumps.Read([]dumps.Source{{Name: "log", Rank: -1, Read: func() ([]byte, error) {
		return []byte(strings.Join(lines, "\n")), nil
	}}})
	require.NoError(t, err)
	found := d.Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, calls.Missing, found[0].Fault)
	require.Equal(t, "[1]", fmt.Sprint(found[0].Ranks), "rank 4 is in no line: nobody counts it")
	require.Equal(t, []int{0, 2, 3}, found[0].Waiting)
	require.Equal(t, collective.ReduceScatter, found[0].Call.Kind)
}
