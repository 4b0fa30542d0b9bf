package dumps

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/collective/calls"
)

// The milliseconds that PyTorch's watchdog waits, unless a job says otherwise.
const watchdogTimeout = 600_000

// Watchdog returns the lines that PyTorch's watchdog writes of calls that have not completed: of
// each rank that answers, for the first such call in each group (ProcessGroupNCCL.cpp, 2.4 on). The
// numbers of ranks in them are those in the group but for the launcher's prefix.
func Watchdog(l *calls.Log) (lines []string) {
	for i := range l.Ranks {
		for g := range l.Groups {
			if !slices.Contains(l.Groups[g].Silent, l.Ranks[i].Number) {
				lines = append(lines, watchdogLines(l, &l.Ranks[i], g)...)
			}
		}
	}
	return lines
}

// watchdogLines returns what it writes of a rank about a group; nil where all has completed.
func watchdogLines(l *calls.Log, r *calls.Rank, g int) []string {
	var late *calls.Call
	enqueued, completed := int64(-1), int64(-1)
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Group != g {
			continue
		}
		if enqueued = max(enqueued, c.Seq); c.State == calls.Completed {
			completed = max(completed, c.Seq)
		} else if late == nil {
			late = c
		}
	}
	if late == nil {
		return nil
	}
	group := &l.Groups[g]
	rank, who := slices.Index(group.Ranks, r.Number), fmt.Sprintf("[rank%d]: ", r.Number)
	return []string{
		who + fmt.Sprintf("[Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, "+
			"OpType=%s, NumelIn=%d, NumelOut=%d, Timeout(ms)=%d) ran for %[6]d milliseconds before "+
			"timing out.", rank, late.Seq, opType(late.Kind), max(late.In, 0), max(late.Out, 0),
			watchdogTimeout),
		who + fmt.Sprintf("[PG ID %d PG GUID %s(%s) Rank %d] Timeout at NCCL work: %d, last enqueued "+
			"NCCL work: %d, last completed NCCL work: %d.", g, group.Name, group.About, rank, late.Seq,
			enqueued, completed)}
}

// opType returns a collective as c10d::OpType spells it.
func opType(k collective.Kind) string {
	switch k {
	case collective.AllGather:
		return "_ALLGATHER_BASE"
	case collective.ReduceScatter:
		return "_REDUCE_SCATTER_BASE"
	case collective.AllToAll, collective.AllToAllV:
		return "ALLTOALL_BASE"
	case collective.Barrier:
		return "ALLREDUCE"
	}
	return strings.ToUpper(strings.ReplaceAll(k.String(), "_", ""))
}
