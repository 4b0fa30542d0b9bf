package mscclpp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/schedule/foreign"
	"collsim/schedule/mscclpp"
)

const samples = "../../../shared/schedules/mscclpp_json"

// sample is a case of the samples' index.
type sample struct {
	File, Collective, Verdict, Error string
	Ranks                            int
}

// index is the samples' index, or a skipped test.
func index(t *testing.T) []sample {
	var table struct{ Case []sample }
	path := filepath.Join(samples, "index.toml")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no sample plans beside the repository: %v", err)
	}
	_, err := toml.DecodeFile(path, &table)
	require.NoError(t, err)
	return table.Case
}

// read reads a sample.
func read(t *testing.T, name string, o foreign.Options) *foreign.File {
	f, err := os.Open(filepath.Join(samples, name))
	require.NoError(t, err)
	defer f.Close()
	o.File = name
	file, err := mscclpp.Read(f, o)
	require.NoError(t, err)
	return file
}

func TestSamples(t *testing.T) {
	for _, c := range index(t) {
		t.Run(c.File, func(t *testing.T) {
			file := read(t, c.File, foreign.Options{StrictNop: os.Getenv("STRICT") != ""})
			_, found := schedule.Verify(file.Schedule, schedule.VerifyOptions{Iterations: 1})
			t.Log(file.Schedule.Spec.Kind, file.Notes, len(file.Found))
			for _, v := range append(file.Found, found...) {
				t.Log(v, file.Where(v.Rank, v.Lane, v.Step))
			}
			if (c.Verdict == "OK") != (len(file.Found)+len(found) == 0) { t.Error(c.Verdict, c.Error) }
		})
	}
}
