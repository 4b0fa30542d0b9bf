package measured

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"collsim/unit"
)

// jsonRun is the part of nccl-tests' output with -J that is read.
type jsonRun struct {
	Args   []string `json:"args"`
	Config struct {
		Devices []jsonDevice `json:"devices"`
	} `json:"config"`
	Devices []jsonDevice  `json:"devices"` // there in other versions
	NCCL    int           `json:"nccl_version"`
	Results *[]jsonResult `json:"results"`
}

// jsonDevice is the GPU of a rank.
type jsonDevice struct {
	Rank     int    `json:"rank"`
	PID      int64  `json:"pid"`
	Hostname string `json:"hostname"`
	Host     string `json:"host"` // in other versions
	Device   int    `json:"device"`
	Bus      string `json:"device_hex"`
	GPU      string `json:"device_info"`
}

// jsonResult is one size of a run.
type jsonResult struct {
	Size  *int64      `json:"size"`
	Count int64       `json:"count"`
	Type  string      `json:"type"`
	RedOp string      `json:"redop"`
	Root  any         `json:"root"` // a text with blanks, or a number
	Out   *jsonTiming `json:"out_of_place"`
	In    *jsonTiming `json:"in_place"`
}

// jsonTiming is one place of a result; values that were not measured are null.
type jsonTiming struct {
	Time  *float64 `json:"time"`
	AlgBW *float64 `json:"alg_bw"`
	BusBW *float64 `json:"bus_bw"`
	Wrong *float64 `json:"nwrong"`
}

// readJSON reads an object of nccl-tests, or a list of them. The line of a row is the number of its
// result.
func readJSON(file string, text []byte) (*Data, error) {
	j := reading{file: file}
	var runs []jsonRun
	into := any(&runs)
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		runs = make([]jsonRun, 1)
		into = &runs[0]
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, jsonProblem(file, text, err, "JSON of nccl-tests (-J)")
	}
	for _, run := range runs {
		if run.Results == nil {
			return nil, j.problem(1, "", "", "results: missing; JSON of nccl-tests (-J) is expected")
		}
		of := run.of(file)
		j.Facts = run.facts()
		for i := range *run.Results {
			some, err := (*run.Results)[i].rows(of)
			if err != nil {
				j.refuse(j.problem(i+1, "", fmt.Sprintf("results[%d]", i), err.Error()))
				continue
			}
			for k := range some {
				some[k].Line = i + 1
			}
			j.Rows = append(j.Rows, some...)
		}
	}
	return j.done(1, "no result has a time")
}

// jsonProblem returns the error of reading JSON, with what is expected.
func jsonProblem(file string, text []byte, err error, expected string) *ParseError {
	return &ParseError{File: file, Line: lineOf(text, err), Text: whyNot(err) + "; " + expected +
		" is expected"}
}

// lineOf returns the line at which reading JSON failed.
func lineOf(text []byte, err error) int {
	offset := int64(0)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	} else if errors.As(err, &kind) {
		offset = kind.Offset
	}
	return 1 + strings.Count(string(text[:min(offset, int64(len(text)))]), "\n")
}

// whyNot returns the reason why reading JSON failed, in JSON's terms.
func whyNot(err error) string {
	var e *json.UnmarshalTypeError
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: %s of that kind is not expected there", cmp.Or(e.Field, "it"), e.Value)
	}
	return err.Error()
}

// of returns the facts that the results of a run share.
func (r *jsonRun) of(file string) Of {
	o := Of{File: file}
	for _, arg := range r.Args {
		if program, ok := strings.CutSuffix(path.Base(arg), "_perf"); ok && o.Kind == 0 {
			o.Kind = kindOf(program)
		}
	}
	hosts, processes := map[string]bool{}, map[string]bool{}
	for _, d := range slices.Concat(r.Config.Devices, r.Devices) {
		if d.Rank < 0 || d.Rank >= maxRanks {
			continue
		}
		o.Ranks = max(o.Ranks, d.Rank+1)
		host := cmp.Or(d.Hostname, d.Host)
		hosts[host] = true
		processes[fmt.Sprint(host, " ", d.PID)] = true
	}
	o.spread(len(hosts), len(processes))
	return o
}

// facts returns what a run states besides its results.
func (r *jsonRun) facts() Facts {
	f := Facts{Version: versionOf(r.NCCL)}
	for _, d := range slices.Concat(r.Config.Devices, r.Devices) {
		f.Devices = append(f.Devices, Device{d.Rank, cmp.Or(d.Hostname, d.Host), d.PID, d.Device, d.Bus,
			d.GPU})
	}
	of := r.of("")
	f.Ranks, f.Nodes = of.Ranks, of.Nodes
	return f
}

// rows returns the times of a result.
func (r *jsonResult) rows(of Of) (rows []Row, err error) {
	of.Type, of.Op = r.Type, r.RedOp
	if r.Size == nil || *r.Size < 0 || *r.Size > mostWhole || r.Count < 0 || r.Count > mostWhole {
		return nil, fmt.Errorf("size and count from 0 to 2^50 are expected")
	}
	root := -1
	if r.Root != nil {
		root, err = strconv.Atoi(strings.TrimSpace(fmt.Sprint(r.Root)))
		if err != nil || root < -1 {
			return nil, fmt.Errorf("root: %.20v: a rank, or -1 for none, is expected", r.Root)
		}
	}
	for i, t := range []*jsonTiming{r.Out, r.In} {
		if t == nil || t.Time == nil {
			continue
		}
		row := Row{Of: of, Size: unit.Bytes(*r.Size), Count: r.Count, Root: root, InPlace: i == 1,
			Wrong: -1, AlgStep: jsonStep, BusStep: jsonStep}
		if row.Time, err = inMicroseconds(*t.Time); err != nil {
			return nil, err
		}
		for _, f := range []struct {
			from *float64
			to   *float64
		}{{t.AlgBW, &row.AlgBW}, {t.BusBW, &row.BusBW}, {t.Wrong, &row.Wrong}} {
			if f.from == nil {
				continue
			}
			if *f.from < 0 || math.IsInf(*f.from, 0) {
				return nil, fmt.Errorf("%v: a number of at least 0 is expected", *f.from)
			}
			*f.to = *f.from
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// jsonStep is half a unit of the last digit of a bandwidth in JSON.
const jsonStep = 0.5e-6
