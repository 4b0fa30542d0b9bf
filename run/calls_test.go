package run_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats"
	"collsim/internal/samples"
	"collsim/report"
	"collsim/run"
)

// storesUntold are plans whose index calls them right, though a rank may end, and its caller read
// the output, before all has come: the runtime launches each rank's kernel on a stream of its own.
func storesUntold() map[string]string {
	const relaxed = "the last signals are relaxed, so nothing tells of the stores before them"
	return map[string]string{
		"generated/ag_nvls_zc_n2.json":   relaxed,
		"generated/ag_nvls_zc_n4.json":   relaxed,
		"generated/ag_nvls_zc_n8.json":   relaxed,
		"generated/ar_nvls_zc_n2.json":   relaxed,
		"generated/ar_nvls_zc_n4.json":   relaxed,
		"repo/reduce_nvls_pipeline.json": relaxed,
		"unit/tbg_reduce_send_test.json": "thread blocks 1 to 3 store and end, only block 0 signals",
	}
}

// TestStoresUntold: a plan that nobody tells of its last stores is wrong, by a caller's reading.
func TestStoresUntold(t *testing.T) {
	samples.Each(t, "mscclpp_json", func(t *testing.T, set samples.Set) {
		untold := 0
		for file, why := range storesUntold() {
			if !set.Has(file) {
				continue
			}
			v, err := verdictOf(t, set, file, formats.Options{})
			require.NoError(t, err)
			require.False(t, v.Good(), file)
			for _, x := range v.Violations {
				require.Equal(t, "race", x.Kind, "%s: %s", file, why)
				require.Regexp(t, "writes and the caller of rank . reads (in|out) element", x.Text, file)
			}
			require.Contains(t, report.VerificationText(v), "MSCCL++, semaphore_device.hpp, relaxedSignal")
			untold++
		}
		require.Equal(t, samples.Of(set, 3, 7), untold)
	})
}

// TestSignalBeforeItsPut: whichever signal of a right plan is moved before the put that it tells
// of, the plan is wrong: the peer, or its caller, may come before the bytes.
func TestSignalBeforeItsPut(t *testing.T) {
	samples.Each(t, "mscclpp_json", func(t *testing.T, set samples.Set) {
		moved, accepted := 0, map[string]int{}
		for _, c := range set.Cases {
			if c["verdict"] == "OK" && storesUntold()[c["file"]] == "" {
				m, a := moveSignals(t, set.Path(c["file"]))
				if moved += m; a > 0 {
					accepted[c["file"]] = a
				}
			}
		}
		require.Equal(t, samples.Of(set, 6, 134), moved)
		// The second of its two rounds ends with a signal to the same peer that tells of both puts,
		// and nobody reads before what the first has brought.
		toldLater := map[string]int{"generated/mn_ag_g4.json": 8}
		require.Equal(t, samples.Of(set, map[string]int{}, toldLater), accepted)
	})
}

// moveSignals moves every signal of a plan before its put, one at a time, and counts them, and
// those with which the plan is accepted.
func moveSignals(t *testing.T, path string) (moved, accepted int) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var plan map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // a size may be 2^64 − 1
	require.NoError(t, d.Decode(&plan))
	for _, g := range plan["gpus"].([]any) {
		for _, tb := range g.(map[string]any)["threadblocks"].([]any) {
			block := tb.(map[string]any)
			ops, _ := block["ops"].([]any)
			for signal := range ops {
				put := toldBy(ops, signal)
				if put < 0 {
					continue
				}
				block["ops"] = slices.Insert(slices.Delete(slices.Clone(ops), signal, signal+1),
					put, ops[signal])
				if moved++; acceptsPlan(t, plan) {
					accepted++
				}
				block["ops"] = ops
			}
		}
	}
	return moved, accepted
}

// toldBy is the put right before a signal, −1 if there is none.
func toldBy(ops []any, signal int) int {
	name := func(i int) any { return ops[i].(map[string]any)["name"] }
	if name(signal) != "signal" {
		return -1
	}
	i := signal - 1
	for ; i >= 0 && name(i) == "nop"; i-- {
	}
	if i < 0 || !slices.Contains([]any{"put", "res", "rres", "gstore", "pipeline"}, name(i)) {
		return -1
	}
	return i
}

func acceptsPlan(t *testing.T, plan map[string]any) bool {
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	f, err := formats.Read("x.json", bytes.NewReader(text), formats.Options{})
	require.NoError(t, err)
	return run.VerifyFile("x.json", f, run.VerifyOptions{Iterations: 1}).Good()
}
