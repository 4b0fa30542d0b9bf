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

// A journal reads NCCL's log of its choices: rank 0 logs every collective, if the tuning log is
// enabled. Each process has a file of its own.
type journal struct {
	dir  string           // "" if there is no log
	read map[string]int64 // bytes read of each file
}

// begin creates the directory. It does nothing if the user has configured NCCL's log.
func (j *journal) begin() (err error) {
	if j.dir != "" || os.Getenv("NCCL_DEBUG") != "" || os.Getenv("NCCL_DEBUG_FILE") != "" {
		return nil
	}
	j.read = map[string]int64{}
	j.dir, err = os.MkdirTemp("", "collsim-nccl-")
	return err
}

// variables returns the environment that enables the log.
func (j *journal) variables() []string {
	if j.dir == "" {
		return nil
	}
	return []string{"NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=TUNING",
		"NCCL_DEBUG_FILE=" + filepath.Join(j.dir, "%p")}
}

// chose returns the library's last choice for a function since the previous call; "" if it logged
// none.
func (j *journal) chose(function string) (choice string, err error) {
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
			choice = c
		}
	}
	return choice, nil
}

// end removes the log.
func (j *journal) end() error {
	dir := j.dir
	j.dir = ""
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// choiceLine matches a line of NCCL's enqueue.cc under NCCL_TUNING. In 2.28 and 2.30 it is
// "AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}". Earlier releases print
// numbers and a time.
func choiceLine() *regexp.Regexp {
	return regexp.MustCompile(`(?m)NCCL INFO (\w+): (\d+) Bytes -> Algo (\w+) proto (\w+)` +
		`(?: channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}| time [0-9.]+)\s*$`)
}

// lastChoice returns the last choice in a log for a function, as "Ring LL, 24 channels"; "" if
// there is none.
func lastChoice(log, function string) (choice string) {
	for _, m := range choiceLine().FindAllStringSubmatch(log, -1) {
		if m[1] != function {
			continue
		}
		choice = official(m[3], "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree",
			"PAT") +
			" " + official(m[4], "LL", "LL128", "Simple")
		low, badLow := strconv.Atoi(m[5])
		high, badHigh := strconv.Atoi(m[6])
		if badLow == nil && badHigh == nil && high >= low {
			choice += ", " + prose.Plural(high-low+1, "channel")
		}
	}
	return hw.Printable(choice)
}

// official returns a name in the spelling of NCCL's tables, given it in capitals or its number.
func official(text string, names ...string) string {
	for number, name := range names {
		if text == strconv.Itoa(number) ||
			strings.EqualFold(strings.ReplaceAll(text, "_", ""), name) {
			return name
		}
	}
	return text
}
