package formats

import (
	"fmt"
	"io"
	"strings"

	"collsim/formats/goal"
	"collsim/formats/msccl"
	"collsim/formats/mscclpp"
	"collsim/schedule"
)

// WriteOptions select how a schedule is written.
type WriteOptions struct {
	Runtime  string // of msccl: the runtime whose limits hold; "msccl" if empty, "rccl" or "none"
	Protocol string // of msccl: "Simple" if empty; "LL" or "LL128"
	// Prove checks the schedule that a runtime would execute, one call at a time. Nil checks
	// nothing.
	Prove func(*schedule.Schedule) error
}

// Written lists the names of the formats that Write writes.
func Written() (names []string) {
	for _, f := range Table() {
		if f.write != nil && f.Name != Text {
			names = append(names, f.Name)
		}
	}
	return append(names, Text)
}

// Write writes a schedule in a format of Written. The notes name the differences from the schedule.
func Write(w io.Writer, s *schedule.Schedule, format string, o WriteOptions) ([]string, error) {
	f, _ := Lookup(format)
	switch {
	case format != "msccl" && (o.Runtime != "" || o.Protocol != ""):
		return nil, fmt.Errorf("runtime and protocol are for msccl, not for %s", format)
	case f.write == nil:
		return nil, fmt.Errorf("format %q cannot be written; %s can", format,
			strings.Join(Written(), ", "))
	}
	return f.write(w, s, o)
}

func writeText(w io.Writer, s *schedule.Schedule, _ WriteOptions) ([]string, error) {
	_, err := io.WriteString(w, s.String())
	return nil, err
}

func writeMSCCL(w io.Writer, s *schedule.Schedule, o WriteOptions) ([]string, error) {
	return msccl.Write(w, s, msccl.WriteOptions{Runtime: o.Runtime, Protocol: o.Protocol,
		Prove: o.Prove})
}

func writeMSCCLPP(w io.Writer, s *schedule.Schedule, o WriteOptions) ([]string, error) {
	return mscclpp.Write(w, s, o.Prove)
}

func writeGOAL(w io.Writer, s *schedule.Schedule, _ WriteOptions) ([]string, error) {
	return nil, goal.Write(w, s)
}
