package schedule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProtocolText: a protocol is read as it is written, with all that it may have.
func TestProtocolText(t *testing.T) {
	for leave := range Leave(len(leaveNames)) {
		for _, isApart := range []bool{false, true} {
			p := Protocol{P2PShape, Packets, Bare, isApart, leave}
			again, err := parseProtocol(strings.Fields(p.String()))
			require.NoError(t, err, p.String())
			require.Equal(t, p, again)
		}
	}
	require.Equal(t, "p2p ll simple pxn-first",
		Protocol{P2PShape, Packets, Bare, false, LeaveByFirst}.String())
	_, err := parseProtocol([]string{"p2p", "ll", "spine"})
	require.ErrorContains(t, err, `"spine" is no protocol`)
}
