// Package recorded reads recordings of a real GPU by the programs of tools/record. They hold
// results of NCCL bit by bit, its choices, its answers to odd arguments, and times. A folder is
// refused as a whole if anything in it is damaged, incomplete or unknown. The package knows no
// schedules and no predictions: tests compare recordings with those.
package recorded

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"collsim/internal/input"
)

// A Folder holds a folder of recordings.
type Folder struct {
	Bits    []*Bits   // nccl-bits-*.json: calls with outputs
	Choices []*Bits   // nccl-choices*.json: calls without outputs
	Rules   []*Rules  // nccl-rules.json
	Points  []*Points // gpu-*.json
	Logs    []string  // nccl-log*.txt
}

// A Head describes the origin of a recording.
type Head struct {
	File                                   string `json:"-"`
	Command, Date, GPU, Driver, CUDA, NCCL string
	Generator                              string // "splitmix64": Generated
	Seed                                   uint64
	Seconds                                float64 // duration of the recording
	RanksAre                               string  `json:"ranks_are"` // "threads" or "processes"
	Failed                                 []Failure
}

// A Failure is a step of the recording that failed.
type Failure struct{ What, Error string }

// Load reads a folder, in which SHA256SUMS has the checksums of all files but itself and README.md.
// It returns nil if the folder does not exist.
func Load(dir string) (*Folder, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	listed, err := sums(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{}
	for _, e := range entries {
		name := e.Name()
		if name == "README.md" || name == "SHA256SUMS" {
			continue
		}
		text, err := input.Limit{}.File(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("recordings: %w", err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != listed[name] {
			return nil, fmt.Errorf("%s: its checksum is not that of SHA256SUMS, %q", name, listed[name])
		}
		delete(listed, name)
		if err := f.add(name, text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for name := range listed {
		return nil, fmt.Errorf("%s is in SHA256SUMS and not there", name)
	}
	return f, f.whole()
}

// sums reads the checksums of SHA256SUMS.
func sums(dir string) (map[string]string, error) {
	text, err := input.Limit{}.File(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 2 {
			return nil, fmt.Errorf("SHA256SUMS: %q: a checksum and a name are expected", line)
		}
		listed[words[1]] = words[0]
	}
	return listed, nil
}

// add reads a file into the list that its name selects. Choices have the form of Bits, with calls
// without outputs.
func (f *Folder) add(name string, text []byte) error {
	is := func(pattern string) bool {
		yes, _ := filepath.Match(pattern, name)
		return yes
	}
	const hasOutputs = true
	switch {
	case is("nccl-bits-*.json"):
		b := &Bits{}
		f.Bits = append(f.Bits, b)
		return read(text, b, &b.Head, name, func() error { return b.complete(hasOutputs) })
	case is("nccl-choices*.json"):
		b := &Bits{}
		f.Choices = append(f.Choices, b)
		return read(text, b, &b.Head, name, func() error { return b.complete(!hasOutputs) })
	case is("nccl-rules.json"):
		r := &Rules{}
		f.Rules = append(f.Rules, r)
		return read(text, r, &r.Head, name, r.complete)
	case is("gpu-*.json"):
		p := &Points{}
		f.Points = append(f.Points, p)
		return read(text, p, &p.Head, name, p.complete)
	case is("nccl-log*.txt"):
		f.Logs = append(f.Logs, string(text))
		return nil
	}
	return fmt.Errorf("no recording has such a name")
}

// read decodes a recording and checks it.
func read(text []byte, into any, head *Head, name string, complete func() error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	head.File = name
	for _, fact := range [][2]string{{"command", head.Command}, {"date", head.Date},
		{"gpu", head.GPU}, {"driver", head.Driver}, {"cuda", head.CUDA}, {"nccl", head.NCCL}} {
		if fact[1] == "" {
			return fmt.Errorf("it does not say its %s", fact[0])
		}
	}
	if head.Generator != "splitmix64" {
		return fmt.Errorf("generator %q is not known", head.Generator)
	}
	for _, failure := range head.Failed {
		if failure.What == "" || failure.Error == "" {
			return fmt.Errorf("something failed, and it does not say what or how")
		}
	}
	return complete()
}

// whole reports planned results that are missing without a recorded failure. A command may have
// written several files.
func (f *Folder) whole() error {
	left := map[[2]string]int{}
	for _, b := range f.Bits {
		left[[2]string{b.Command, b.Date}] += len(b.Calls)
	}
	for _, b := range f.Bits {
		results := left[[2]string{b.Command, b.Date}]
		if b.Planned > 0 && len(b.Failed) == 0 && results != b.Planned-b.Refused {
			return fmt.Errorf("%s: %d of %d results are there, and nothing is said to have failed", b.File,
				results, b.Planned-b.Refused)
		}
	}
	return nil
}
