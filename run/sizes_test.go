package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/unit"
)

// exchanges is an MSCCL file in which every rank sends so many chunks, times times, to the next
// before it receives as many from the one before: right while the messages fit the connection.
func exchanges(coll string, ranks, count, times, chunks int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<algo name="x" proto="Simple" nchannels="1" nchunksperloop="%d" `, chunks)
	fmt.Fprintf(&b, `ngpus="%d" coll="%s" inplace="0">`, ranks, coll)
	for r := range ranks {
		fmt.Fprintf(&b, "\n<gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"%d\">\n", r,
			chunks, chunks, times*count)
		fmt.Fprintf(&b, "<tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", (r+1)%ranks,
			(r+ranks-1)%ranks)
		for i := range 2 * times {
			kind, from, to := "s", i*count, -1
			if i >= times {
				kind, from, to = "r", -1, (i-times)*count
			}
			fmt.Fprintf(&b, `<step s="%d" type="%s" srcbuf="i" srcoff="%d" `, i, kind, from)
			fmt.Fprintf(&b, `dstbuf="s" dstoff="%d" cnt="%d" `, to, count)
			b.WriteString(`depid="-1" deps="-1" hasdep="0"/>`)
		}
		b.WriteString("</tb></gpu>")
	}
	return b.String() + "\n</algo>\n"
}

// TestSizeRanges: what a file's ranges of sizes say is what is found at their least size, their
// greatest, and one between; and no size between two ranges is left out.
func TestSizeRanges(t *testing.T) {
	large, err := os.ReadFile("testdata/msccl-large-size.xml")
	require.NoError(t, err)
	texts := map[string]string{"large": string(large)}
	for _, x := range []struct{ ranks, count, times, chunks int }{
		{2, 1, 2, 4}, {2, 1, 3, 4}, {2, 3, 1, 6}, {2, 2, 2, 4}, {3, 7, 1, 12}, {3, 5, 2, 10},
		{4, 71, 1, 71},
	} {
		name := fmt.Sprintf("%d ranks, %d times %d of %d", x.ranks, x.times, x.count, x.chunks)
		texts[name] = exchanges("custom", x.ranks, x.count, x.times, x.chunks)
	}
	for _, path := range othersXML(t, "generated/ag_recdbl_n8.xml") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[filepath.Base(path)] = string(text)
	}
	split, differ := 0, 0
	for name, text := range texts {
		for _, o := range []formats.Options{{}, {Protocol: "LL"},
			{Type: dtype.Float64, Protocol: "LL128"},
			{Runtime: "rccl"}, {As: collective.Custom}} {
			read := func(size unit.Bytes) (*formats.File, error) {
				sized := o
				sized.Bytes = size
				return formats.Read("x.xml", strings.NewReader(text), sized)
			}
			f, err := formats.Read("x.xml", strings.NewReader(text), o)
			if err != nil {
				continue // not for that runtime
			}
			ranges := VerifyFile("x.xml", f, VerifyOptions{}).Ranges
			require.NotEmpty(t, ranges, name)
			split += len(f.Ranges) - 1
			differ += len(ranges) - 1
			grain := f.Ranges[0].From
			for i, r := range ranges {
				require.True(t, r.Judged, name)
				require.Equal(t, i == len(ranges)-1, r.To == 0, name)
				if i > 0 {
					require.Equal(t, ranges[i-1].To+grain, r.From, "%s: no size between is left out", name)
				}
				most := r.To
				if most == 0 {
					most = 3 * r.From
				}
				middle := (r.From + most) / 2 / grain * grain
				for _, size := range []unit.Bytes{r.From, middle, most} {
					at, err := read(size)
					require.NoError(t, err, "%s: %v", name, size)
					found := VerifyFile("x.xml", at, VerifyOptions{}).Violations
					require.Equal(t, r.Violation == nil, len(found) == 0, "%s, %+v: %v", name, o, size)
					if len(found) > 0 {
						require.Equal(t, r.Violation.Kind, found[0].Kind, "%s: %v", name, size)
					}
				}
			}
		}
	}
	require.Greater(t, split, 100)
	require.Greater(t, differ, 10)
}

// othersXML are files that others have made, where they are there.
func othersXML(t *testing.T, names ...string) (paths []string) {
	for _, name := range names {
		path := filepath.Join("../../shared/schedules/msccl_xml", name)
		if _, err := os.Stat(path); err != nil {
			t.Logf("%s is not there: left out", path)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}
