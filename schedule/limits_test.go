package schedule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What would exhaust a machine is refused before it is carried out, with the line and the number.
func TestParseBounds(t *testing.T) {
	const loops = "-     send in to 1 @0\n+     loop 16777216\n+       loop 16777216\n+         nop @0"
	const head = "- rank *\n-   lane 0\n-     send in to 1 @0\n-     recv from 1 into out @0\n"
	for _, c := range []struct{ edit, want string }{
		{loops, "line 10: with this step in all its loops, lanes, slices and ranks, the programs name " +
			"562949953421312 blocks and peers; at most 1073741824 are read"},
		{strings.Replace(loops, "nop", "loop 16777216\n+           nop", 1), "line 11: with this " +
			"step in all its loops, lanes, slices and ranks, the programs name more than 2^63"},
		{"- ranks 2\n+ ranks 1024\n- group 2\n+ group 1024\n-   lane 0\n+   lanes 0-65535",
			"line 7: 67108864 lanes on all ranks so far; at most 4194304 are read"},
		{head + "+ cut in block even 16777216\n+ rank *\n+   lane 0\n+     loop 64\n" +
			"+       send in to 1 @0",
			"line 10: with this step"},
	} {
		_, err := Parse(Damage(t, smallText, c.edit))
		require.Error(t, err)
		require.True(t, strings.HasPrefix(err.Error(), c.want), err.Error())
	}
	_, err := Parse(Damage(t, smallText,
		"-     send in to 1 @0\n+     loop 16777216\n+       nop @0"))
	require.NoError(t, err)
}
