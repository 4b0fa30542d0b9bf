package nccl

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"collsim/hw"
	"collsim/internal/input"
	"collsim/internal/prose"
)

// journal is where NCCL writes down what it chooses: rank 0 has a line for every collective, if it
// is asked for those of its tuning. Each process has a file of its own.
type journal struct {
	dir  string           // "" where nobody reads it
	read map[string]int64 // bytes of each file that have been read
}

// begin makes the directory. A user who asks NCCL for a log has it to himself.
func (j *journal) begin() (err error) {
	if j.dir != "" || os.Getenv("NCCL_DEBUG") != "" || os.Getenv("NCCL_DEBUG_FILE") != "" {
		return nil
	}
	j.read = map[string]int64{}
	j.dir, err = os.MkdirTemp("", "collsim-nccl-")
	return err
}

// variables are what the processes of ranks get.
func (j *journal) variables() []string {
	if j.dir == "" {
		return nil
	}
	return []string{"NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=TUNING",
		"NCCL_DEBUG_FILE=" + filepath.Join(j.dir, "%p")}
}

// chose is what the library has chosen for a function since it was asked last; "" if it has not
// said so.
func (j *journal) chose(function string) (way string, err error) {
	if j.dir == "" {
		return "", nil
	}
	files, err := os.ReadDir(j.dir)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		text, err := input.Limit{}.File(filepath.Join(j.dir, f.Name()))
		if err != nil {
			return "", err
		}
		fresh := text[min(j.read[f.Name()], int64(len(text))):]
		j.read[f.Name()] = int64(len(text))
		if c := lastChoice(string(fresh), strings.TrimPrefix(function, "nccl")); c != "" {
			way = c
		}
	}
	return way, nil
}

// end removes what was written.
func (j *journal) end() error {
	dir := j.dir
	j.dir = ""
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// choiceLine is a line of enqueue.cc under NCCL_TUNING: as it is in 2.28 and 2.30, "AllReduce: 4096
// Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}", and as it was, with numbers and a time.
func choiceLine() *regexp.Regexp {
	return regexp.MustCompile(`(?m)NCCL INFO (\w+): (\d+) Bytes -> Algo (\w+) proto (\w+)` +
		`(?: channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}| time [0-9.]+)\s*$`)
}

// lastChoice is the last choice in a log for a function, as "Ring LL, 24 channels"; "" without one.
func lastChoice(log, function string) (way string) {
	for _, m := range choiceLine().FindAllStringSubmatch(log, -1) {
		if m[1] != function {
			continue
		}
		way = official(m[3], "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT") +
			" " + official(m[4], "LL", "LL128", "Simple")
		low, badLow := strconv.Atoi(m[5])
		high, badHigh := strconv.Atoi(m[6])
		if badLow == nil && badHigh == nil && high >= low {
			way += ", " + prose.Plural(high-low+1, "channel")
		}
	}
	return hw.Printable(way)
}

// official is a name as NCCL's tables have it: of one in capitals, or of its number.
func official(text string, names ...string) string {
	for number, name := range names {
		if text == strconv.Itoa(number) ||
			strings.EqualFold(strings.ReplaceAll(text, "_", ""), name) {
			return name
		}
	}
	return text
}
