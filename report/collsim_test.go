package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats"
	"collsim/internal/tier"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// load reads a scenario that must be right.
func load(t *testing.T, file, text string, set ...string) *run.Scenario {
	t.Helper()
	var content []byte
	if text != "" {
		content = []byte(text)
	}
	s, err := run.Load(file, content, run.LoadOptions{Set: set})
	require.NoError(t, err)
	return s
}

func runAll(t *testing.T, s *run.Scenario) *run.Report {
	t.Helper()
	r, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	require.Len(t, s.Points, len(r.Results)+len(r.Skipped))
	return r
}

// decoded is a report's JSON, read back.
func decoded(t *testing.T, r ...*run.Report) map[string]any {
	t.Helper()
	text, err := JSON(r...)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(text, &m))
	return m
}

// TestJSON holds the first example to the contract: every key, and every value.
func TestJSON(t *testing.T) {
	s := load(t, "example:ring", "")
	if !tier.Long { // numbers are computed in little memory, which is soon done
		s.Points[0].Check.Memory = unit.MiB
	}
	ran := runAll(t, s)
	got := decoded(t, ran)
	// 14 rounds of 2·500 ns + 8 MiB / 12.5 GB/s = 671 088 640 ps each; 15 steps and 14 messages a
	// rank; 8 MiB a message over 2 links; the links are busy for 14 · 671 088 640 ps.
	want := `{"collsim": "0.1.0", "schema": 1, "scenario": "example:ring",
	  "name": "ring all-reduce on 8 ranks", "seed": 0, "set": [],
	  "topology": {"preset": "switch", "nodes": 1, "ranks": 8}, "device": "ideal", "sharing": "fluid",
	  "results": [{"id": "all_reduce/ring/67108864", "point": {}, "variant": "", "kind": "all_reduce",
	    "algorithm": "ring", "ranks": 8, "bytes": 67108864, "count": 16777216, "dtype": "float32",
	    "op": "sum", "root": -1, "in_place": false, "executor": "sim", "engine": "fold",
	    "time_ps": 9409240960, "algbw_GBps": 7.132229293020464, "busbw_GBps": 12.48140126278581,
	    "peak_link_GBps": 12.5, "rounds": 14, "steps": 120, "messages": 112, "bytes_sent": 939524096,
	    "link_bytes": 1879048192, "closed_form_ps": 9409240960,
	    "lower_bound_ps": 9396240960, "bounds": {"latency_ps": 1000000, "bandwidth_ps": 9395240960,
	      "reduction_ps": 0}, "proof": "proved", "slots": 8,
	    "min_slots": 2, "violations": [], "numbers": "exact", "checked_count": 16777216, "wrong": 0,
	    "max_ulp": 0, "ranks_agree": true,
	    "numerics": {"data": "exact", "accumulate": "native", "mean_ulp": 0,
	      "max_relative_error": 0, "depth": 7, "bound": 4.172325134277344e-7, "order": null},
	    "limit": {"what": "link", "name": "gpu0->switch", "like": 8, "busy": 0.9985}, "hw": null,
	    "asked": "ring", "candidates": null, "teams": 1, "ranks_walked": 1, "channels": 1}],
	  "skipped": [], "warnings": []}`
	if !tier.Long {
		r := ran.Results[0]
		require.Len(t, r.Warnings, 1)
		want = strings.NewReplacer(`"checked_count": 16777216`,
			fmt.Sprintf(`"checked_count": %d`, r.Checked), `"warnings": []`,
			fmt.Sprintf(`"warnings": [%q]`, r.Point.ID+": "+r.Warnings[0])).Replace(want)
	}
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, want, string(text))
}

// TestJSONOfSweeps: what differs between points is null above them and stands in each.
func TestJSONOfSweeps(t *testing.T) {
	s := load(t, "s.toml", small+"[sweep]\n\"topology.ranks\" = [2, 3]\nseed = [5, 6]\n")
	m := decoded(t, runAll(t, s))
	require.Nil(t, m["seed"])
	require.Nil(t, m["topology"].(map[string]any)["ranks"])
	require.Equal(t, "switch", m["topology"].(map[string]any)["preset"])
	last := m["results"].([]any)[3].(map[string]any)
	require.Equal(t, map[string]any{"topology.ranks": 3.0, "seed": 6.0}, last["point"])
	require.Equal(t, 3.0, last["ranks"])

	text, err := JSON(runAll(t, s), runAll(t, s))
	require.NoError(t, err)
	var list []any
	require.NoError(t, json.Unmarshal(text, &list), "several reports are an array")
	require.Len(t, list, 2)
}

const small = `[topology]
preset = "switch"
ranks = 4
bandwidth = "1 GB/s"
latency = "1 us"
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "1 KiB"
`

// TestClosedForm: there is one where all routes are alike.
func TestClosedForm(t *testing.T) {
	for _, c := range []struct {
		name, set string
		want      any
	}{
		// 2·3 rounds of 2 us + 256 B / (1 GB/s)
		{"switch", "topology.preset=switch", 6 * (2e6 + 256e3)},
		// one link less
		{"full mesh", "topology.preset=full-mesh", 6 * (1e6 + 256e3)},
		{"routes of one and of two links", "topology.preset=ring", nil},
		{"one rank", "topology.ranks=1", 0.0},
		{"adding takes time", "device.reduce_rate=1 GB/s", 6*(2e6+256e3) + 3*256e3},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := decoded(t, runAll(t, load(t, "s.toml", small, c.set)))
			require.Equal(t, c.want, m["results"].([]any)[0].(map[string]any)["closed_form_ps"])
		})
	}
}

// TestCSV: a column for every plain value of a result in JSON, spelt as there.
func TestCSV(t *testing.T) {
	r := runAll(t, load(t, "example:numbers", ""))
	text, err := CSV(r)
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+len(r.Results))
	results := decoded(t, r)["results"].([]any)
	for i, line := range lines[1:] {
		m := results[i].(map[string]any)
		for c, name := range lines[0] {
			switch name {
			case "scenario", "seed", "topology", "limit", "limit_busy", "point", "violation":
				delete(m, name)
				continue
			}
			if part, ok := strings.CutPrefix(name, "bound_"); ok {
				m[name] = m["bounds"].(map[string]any)[part]
			}
			numerics, _ := m["numerics"].(map[string]any)
			switch name { // those of numerics
			case "error_bound":
				m[name] = numerics["bound"]
			case "order_depends_on", "picked_algorithm", "picked_protocol", "picked_channels",
				"picked_threads", "known_tables", "known_error", "known_error_p90",
				"measured_time_ps", "measured_spread_ps", "measured_busbw_GBps", "measured_error",
				"measured_chose", "measured_rows", "measured_at":
				m[name] = nil
			case "accumulate", "mean_ulp", "max_relative_error", "depth":
				m[name] = numerics[name]
			}
			if part, ok := strings.CutPrefix(name, "held_"); ok {
				held, _ := m["held"].(map[string]any)
				m[name] = held[part]
			}
			if part, ok := strings.CutPrefix(name, "hw_"); ok {
				hw, _ := m["hw"].(map[string]any)
				m[name] = hw[part]
			}
			if _, has := m[name]; !has && strings.HasPrefix(name, "call_") { // there is no benchmark
				m[name] = nil
			}
			require.Contains(t, m, name)
			if m[name] == nil {
				require.Empty(t, line[c])
			} else if x, number := m[name].(float64); number {
				var got float64
				_, err := fmt.Sscan(line[c], &got)
				require.NoError(t, err)
				require.Equal(t, x, got, name)
			} else {
				require.Equal(t, fmt.Sprint(m[name]), line[c])
			}
			delete(m, name)
		}
		for _, other := range []string{"violations", "variant", "hw", "candidates", "bounds",
			"numerics", "held"} {
			delete(m, other)
		}
		require.Empty(t, m, "every key of a result has its column")
	}
}

// TestInterrupted: what is finished is returned, with the context's error.
func TestInterrupted(t *testing.T) {
	s := load(t, "s.toml", small+"[sweep]\nseed = { from = 1, to = 500, step = 1 }\n")
	ctx, cancel := context.WithCancel(context.Background())
	var told []string
	r, err := s.Run(ctx, run.RunOptions{Done: func(r *run.Result) {
		told = append(told, r.Point.ID)
		if len(told) == 3 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.GreaterOrEqual(t, len(r.Results), 3)
	require.Less(t, len(r.Results), 500)
	require.Len(t, told, len(r.Results), "everybody is told of what is returned")
	for i, result := range r.Results {
		require.True(t, result.Good())
		require.Equal(t, result.Point.ID, told[i])
	}
}

// TestFirstError: of several points that cannot be run, the first one is named, whoever is faster,
// and what is before it is returned.
func TestFirstError(t *testing.T) {
	text := strings.Replace(small, `"ring"`, `["ring", "double-binary-tree(segment=2B)"]`, 1) +
		"[sweep]\nseed = { from = 1, to = 20, step = 1 }\n"
	for range 20 {
		s := load(t, "s.toml", text)
		told := 0
		r, err := s.Run(context.Background(), run.RunOptions{Done: func(*run.Result) { told++ }})
		require.Len(t, r.Results, 1)
		require.Equal(t, 1, told)
		var e *scenarios.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, `s.toml:8: collective.algorithm = "double-binary-tree(segment=2B)": `+
			"double-binary-tree: segment 2 B is less than one float32, which has 4 bytes", err.Error())
	}
}

// TestPanicBelongsToTheCaller: a bug in a worker is a panic where Run was called.
func TestPanicBelongsToTheCaller(t *testing.T) {
	s := load(t, "s.toml", small+"[sweep]\nseed = [1, 2, 3]\n")
	s.Points[1] = nil
	require.Panics(t, func() { _, _ = s.Run(context.Background(), run.RunOptions{}) })
}

// TestRead: files come from whom the caller names.
func TestRead(t *testing.T) {
	files := map[string]string{
		"dir/s.toml": strings.Replace(small, `"ring"`, `"file:mine.schedule"`, 1),
		"dir/mine.schedule": `schedule mine
collective all_reduce float32 sum
ranks 4
count 10
rank 0
  lane 0
    recvReduceCopySend from 1, from 2, from 3, in into out to 1, 2, 3 @0
rank 1
  lane 0
    send in to 0 @0
    recv from 0 into out @1
rank 2
  lane 0
    send in to 0 @0
    recv from 0 into out @1
rank 3
  lane 0
    send in to 0 @0
    recv from 0 into out @1
`}
	read := func(name string, _ unit.Bytes) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("not there")
	}
	s, err := run.Load("dir/s.toml", nil,
		run.LoadOptions{Read: read, Set: []string{"sim.sharing=fifo"}})
	require.NoError(t, err)
	r := runAll(t, s).Results[0]
	require.Equal(t, run.Proved, r.Proof)
	require.Equal(t, "exact", r.Numbers)
	// 1 KiB three times, one after the other, over the link into rank 0, of 1 GB/s and 2 us with
	// the one before; and three times over the link out of it.
	require.Equal(t, 2*(3*1024*unit.Nanosecond+2*unit.Microsecond), r.Time)
	require.Equal(t, unit.Time(-1), r.ClosedForm)

	_, err = run.Load("other/s.toml", []byte(files["dir/s.toml"]), run.LoadOptions{Read: read})
	require.ErrorContains(t, err,
		`s.toml:8: collective.algorithm = "file:mine.schedule": cannot be read`)
	_, err = run.Load("nowhere.toml", nil, run.LoadOptions{Read: read})
	require.EqualError(t, err, "not there")
	_, err = run.Load("example:rong", nil, run.LoadOptions{})
	require.ErrorContains(t, err, "did you mean example:ring")
}

// TestWarnings: what a reader might stumble over is said once for each result.
func TestWarnings(t *testing.T) {
	r := runAll(t, load(t, "s.toml", small, "check.memory=4 KiB", "collective.bytes=10002"))
	require.Len(t, r.Warnings, 2)
	require.Contains(t, r.Warnings[0], "bytes rounded down")
	require.Contains(t, r.Warnings[1], "check.memory = 4 KiB holds no more")
	require.Less(t, r.Results[0].Checked, r.Results[0].Point.Spec.Count)

	r = runAll(t, load(t, "s.toml", strings.Replace(small, `"ring"`, `"one-shot"`, 1),
		"topology.preset=full-mesh", "topology.ranks=16", "collective.bytes=1 MiB"))
	require.Len(t, r.Warnings, 1)
	require.Contains(t, r.Warnings[0], "is above every link: it is defined for rings")
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"a/b.toml": "a/b.toml", "": "''", "a b": "'a b'", "it's": `'it'\''s'`,
		"id=x(y=2)": "'id=x(y=2)'", "topology.ranks=4": "topology.ranks=4",
	} {
		require.Equal(t, want, quote(in))
	}
}

// TestVerify: what is proven in a scenario, and with how many slots.
func TestVerify(t *testing.T) {
	s := load(t, "s.toml", small)
	for slots, good := range map[int]bool{-1: true, 0: true, 1: false, 2: true} {
		list, err := s.Verify(slots)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, good, list[0].Good(), "%d slots", slots)
	}
	_, err := formats.Read("x", strings.NewReader("schedule x\nnonsense\n"), formats.Options{})
	var e *formats.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 2, e.Line)
}
