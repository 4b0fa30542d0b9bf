package nccl

import (
	"fmt"

	"collsim/schedule"
)

// leaving lists the variables that say by which NICs messages leave a node.
func leaving() []variable {
	level := func(most string, set func(*Env, int)) func(*Env, string) error {
		return func(e *Env, s string) error {
			if len(s) != 1 || s < "0" || s > most {
				return fmt.Errorf("0 to %s is expected", most)
			}
			set(e, int(s[0]-'0'))
			return nil
		}
	}
	return []variable{
		{"NCCL_CROSS_NIC", "0: a ring leaves a node by the rail that it enters by",
			level("2", func(e *Env, n int) { e.cross = n })},
		{"NCCL_PXN_DISABLE", "1: no message leaves a node through another GPU",
			level("1", func(e *Env, n int) { e.noPXN = n == 1 })},
		{"NCCL_P2P_PXN_LEVEL", "0: no send does; 1: where its GPU is not near the NIC",
			level("2", func(e *Env, n int) { e.pxn = n })},
	}
}

// levels returns NCCL_P2P_PXN_LEVEL, 0 without PXN, and NCCL_CROSS_NIC.
func (e *Env) levels() (pxn, cross int) {
	switch {
	case e == nil:
		return ownPXN, ownCross
	case e.noPXN:
		return 0, e.cross
	}
	return e.pxn, e.cross
}

// canPass reports whether a message may leave a node through another GPU: one that NVLinks join to
// the sender, and that is near to the NIC (graph/paths.cc, ncclTopoComputePaths).
func (m *model) canPass() bool { return m.Joined != byPCIe && !m.FarNICs }

// leaveP2P says by which NIC a message of a send leaves its node (graph/search.cc,
// ncclTopoGetNetDev): that of the receiver's rail, by PXN, unless it is switched off.
func (m *model) leaveP2P() schedule.Leave {
	pxn, cross := m.env.levels()
	if !m.canPass() {
		pxn = 0
	}
	switch {
	case m.nodes == 1 || m.perNode == 1:
		return schedule.LeaveByRoute
	case pxn == 2:
		return schedule.LeaveByFirst
	case pxn == 1:
		return schedule.LeaveByNeighbour
	case cross == 0:
		return schedule.LeaveByRail
	}
	return schedule.LeaveByOwn
}

// leaveRing says by which NIC a ring leaves a node, where NCCL_CROSS_NIC is not the library's own:
// by that of the rail on which it has entered, or by that of its last GPU (graph/search.cc,
// ncclTopoSearchRec). By itself the library takes whichever the search finds first; here, what the
// network's routes are.
func (m *model) leaveRing() schedule.Leave {
	_, cross := m.env.levels()
	switch {
	case m.nodes == 1 || m.perNode == 1 || cross == ownCross:
		return schedule.LeaveByRoute
	case cross == 1:
		return schedule.LeaveByOwn
	case m.canPass() && (m.env == nil || !m.env.noPXN):
		return schedule.LeaveByNeighbour
	}
	return schedule.LeaveByRail
}
