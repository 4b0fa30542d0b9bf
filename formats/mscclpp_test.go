package formats_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/internal/samples"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/schedule"
)

// proven returns an error if a schedule, carried out twice without a barrier, does not do what it
// should.
func proven(s *schedule.Schedule) error {
	_, found := proof.Verify(s, proof.Options{Iterations: 2})
	if len(found) > 0 {
		return found[0]
	}
	return nil
}

// toPlan writes a schedule as a plan of MSCCL++, reads it back, as its executor would and ordered
// by nop alone, and proves both.
func toPlan(t *testing.T, s *schedule.Schedule) (plan []byte, err error) {
	var b, again bytes.Buffer
	if _, err := formats.Write(&b, s, "mscclpp", formats.WriteOptions{Prove: proven}); err != nil {
		return nil, err
	}
	_, err = formats.Write(&again, s, "mscclpp", formats.WriteOptions{})
	require.NoError(t, err)
	require.True(t, bytes.Equal(b.Bytes(), again.Bytes()))
	spec := &s.Spec
	f, err := formats.Read("plan.json", bytes.NewReader(b.Bytes()), formats.Options{
		StrictNop: true, Type: spec.Type, Op: spec.Op, Root: spec.Root, As: spec.Kind,
		Count: spec.Count})
	require.NoError(t, err)
	require.Equal(t, "mscclpp", f.Format)
	require.Empty(t, f.Found)
	require.NoError(t, proven(f.Schedule))
	require.Equal(t, spec.Kind, f.Schedule.Spec.Kind)
	require.Equal(t, spec.InPlace, f.Schedule.Spec.InPlace)
	require.Equal(t, spec.Count, f.Schedule.Spec.Count)
	return b.Bytes(), nil
}

// refusals matches the reasons for which Write refuses a schedule.
var refusals = regexp.MustCompile(`the executor holds \d+|alone are written as plans|` +
	`the executor takes multiples of 16|a plan has chunks of one size|has no name in a plan|` +
	`a plan has none|the executor adds|nothing to write`)

// TestPlans: algorithms of the tables, in place and not, are plans of MSCCL++ that do the same,
// launch after launch, or are refused for a reason that is named.
func TestPlans(t *testing.T) {
	written, all := 0, 0
	ranks := tier.Of([]int{3, 8}, []int{2, 3, 4, 5, 7, 8, 16})
	for _, a := range append(algos.Table(), nccl.Table()...) {
		for _, kind := range a.Kinds {
			for _, n := range ranks {
				for _, inPlace := range tier.Of([]bool{n == 3}, []bool{false, true}) {
					spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: n,
						Count: int64(n) * 1680, InPlace: inPlace}
					if kind.Reduces() {
						spec.Op = collective.Sum
					}
					s, err := a.Build(spec, algos.Options{Channels: 1 + n%2})
					if err != nil {
						continue // not for so many ranks, or not in place
					}
					_, err = toPlan(t, s)
					if all++; err == nil {
						written++
						continue
					}
					require.Regexp(t, refusals, err.Error(), "%v %s on %d", kind, a.Name, n)
					t.Logf("%v %s on %d: %v", kind, a.Name, n, err)
				}
			}
		}
	}
	t.Logf("%d of %d written", written, all)
	require.Greater(t, written, all/2)
}

// TestPlanOfTwoShot: blocks that send to each other both ways have one channel for both, so that a
// thread block of two-shot on 8 ranks has 14, where it would have 21 and the executor holds 16.
func TestPlanOfTwoShot(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "two-shot")
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Type: dtype.Float32,
		Op: collective.Sum, Ranks: 8, Count: 320}, algos.Options{Channels: 1})
	require.NoError(t, err)
	text, err := toPlan(t, s)
	require.NoError(t, err)
	var plan struct {
		GPUs []struct {
			Blocks []struct {
				Channels []struct {
					IDs []int `json:"channel_ids"`
				}
			} `json:"threadblocks"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &plan))
	most := 0
	for _, g := range plan.GPUs {
		for _, b := range g.Blocks {
			for _, c := range b.Channels {
				most = max(most, len(c.IDs))
			}
		}
	}
	require.Equal(t, 14, most)
}

// TestStrangersAsPlans: schedules that others wrote as MSCCL XML are plans of MSCCL++ that do the
// same, or are refused for a reason that is named.
func TestStrangersAsPlans(t *testing.T) {
	samples.Each(t, "msccl_xml", func(t *testing.T, set samples.Set) {
		written, all := 0, 0
		for _, c := range set.Cases {
			if c["verdict"] != "OK" {
				continue
			}
			file, err := os.Open(set.Path(c["file"]))
			require.NoError(t, err)
			f, err := formats.Read(c["file"], file, formats.Options{Runtime: "none"})
			require.NoError(t, file.Close())
			require.NoError(t, err)
			_, err = toPlan(t, f.Schedule)
			if all++; err == nil {
				written++
				continue
			}
			require.Regexp(t, refusals, err.Error(), c["file"])
			t.Log(c["file"], err)
		}
		t.Logf("%d of %d written", written, all)
		require.Positive(t, written)
	})
}

// TestPlanKeys: every key of a plan, at its place, is one that plans of others have there.
func TestPlanKeys(t *testing.T) {
	known := map[string]bool{}
	samples.Each(t, "mscclpp_json", func(t *testing.T, set samples.Set) {
		for _, c := range set.Cases {
			text, err := os.ReadFile(set.Path(c["file"]))
			require.NoError(t, err)
			keys(t, text, known)
		}
	})
	mine := map[string]bool{}
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: 8, Count: 8 * 1680}
			if kind.Reduces() {
				spec.Op = collective.Sum
			}
			if s, err := a.Build(spec, algos.Options{}); err == nil {
				if plan, err := toPlan(t, s); err == nil {
					keys(t, plan, mine)
				}
			}
		}
	}
	require.Greater(t, len(mine), 40)
	for key := range mine {
		require.True(t, known[key], key)
	}
}

// keys adds the keys of a JSON text, with the keys and the operation around them, and the words
// that stand there.
func keys(t *testing.T, text []byte, into map[string]bool) {
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case []any:
			for _, x := range v {
				walk(path, x)
			}
		case map[string]any:
			if name, ok := v["name"].(string); ok && strings.HasSuffix(path, "ops") {
				path = filepath.Join(path, name)
			}
			for key, x := range v {
				into[path+"/"+key] = true
				walk(path+"/"+key, x)
			}
		case string:
			if !strings.HasSuffix(path, "/name") && path != "/collective" {
				into[path[strings.LastIndex(path, "/"):]+"="+v] = true
			}
		}
	}
	walk("", value)
}
