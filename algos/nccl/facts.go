package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Facts describe a node and its NICs as NCCL's search sees them. Rates are GB/s of 10⁹ in one
// direction, as NCCL counts them (graph/topo.h, graph/topo.cc), which is not what a link reaches.
type Facts struct {
	Device string // of every GPU, for people
	SM     int    // compute capability, 90 for 9.0
	// Joined names what joins the GPUs: "switch" (NVSwitches), "links" (NVLinks between them), or
	// "pcie".
	Joined string
	// Links are the NVLinks of a GPU: all to the switch, or those to each other GPU, of the GPU that
	// has fewest.
	Links []int
	// PCIe is the rate of the slowest path between two GPUs that are joined by PCIe.
	PCIe float64
	// Multicast says that the switch reduces and copies.
	Multicast bool
	GPUs      int // of a node
	NICs      int // of a node; 0 where nobody says
	NICRate   float64
	// NetLatency is the latency in microseconds that a network's plugin adds to a hop. The search
	// keeps it with its graphs (graph/search.cc, latencyInter), as a whole number
	// (graph/topo.cc).
	NetLatency int
	// FarNICs says that GPUs reach their NICs through a processor (a path of type PHB or SYS).
	FarNICs bool
	AMD     bool // the processors' vendor, on x86
	// Found holds the graphs that NCCL's search has dumped; nil where there is no dump.
	Found *Found

	// staysOnNIC has rings leave a node by the NIC that they enter by (NCCL_CROSS_NIC=0), for which
	// its last GPU sends over NVLink, too.
	staysOnNIC bool
}

// The words of Joined.
const (
	bySwitch = "switch"
	byLinks  = "links"
	byPCIe   = "pcie"
)

// String writes facts as words and numbers, which ParseFacts reads.
func (f *Facts) String() string {
	text := fmt.Sprintf("%s sm=%d joined=%s gpus=%d", f.Device, f.SM, f.Joined, f.GPUs)
	if len(f.Links) > 0 {
		text += " links=" + strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Links), " ", "+"), "[]")
	}
	if f.PCIe > 0 {
		text += fmt.Sprintf(" pcie=%g", f.PCIe)
	}
	if f.NICs > 0 {
		text += fmt.Sprintf(" nics=%dx%g", f.NICs, f.NICRate)
	}
	if f.NetLatency > 0 {
		text += fmt.Sprintf(" net-latency=%d", f.NetLatency)
	}
	for _, word := range f.words() {
		if *word.is {
			text += " " + word.name
		}
	}
	if f.Found != nil {
		text += " " + f.Found.String()
	}
	return text
}

// word is a fact that is so or not.
type word struct {
	name string
	is   *bool
}

func (f *Facts) words() []word {
	return []word{{"multicast", &f.Multicast}, {"far-nics", &f.FarNICs}, {"amd", &f.AMD}}
}

// ParseFacts reads what Facts.String writes.
func ParseFacts(text string) (Facts, error) {
	var f Facts
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return f, fmt.Errorf("facts of a node are expected")
	}
	f.Device = fields[0]
	for _, field := range fields[1:] {
		if i := slices.IndexFunc(f.words(), func(w word) bool { return w.name == field }); i >= 0 {
			*f.words()[i].is = true
			continue
		}
		key, value, _ := strings.Cut(field, "=")
		err := f.found(key, value)
		if err != nil {
			return f, fmt.Errorf("%.40q: %w", field, err)
		}
	}
	return f, f.check()
}

// found reads one fact, or a word of what a search has found.
func (f *Facts) found(key, value string) error {
	var found Found
	if f.Found != nil {
		found = *f.Found
	}
	isGraph, err := found.set(key, value)
	if !isGraph {
		return f.set(key, value)
	}
	f.Found = &found
	return err
}

// set reads one fact.
func (f *Facts) set(key, value string) (err error) {
	whole := map[string]*int{"sm": &f.SM, "gpus": &f.GPUs, "net-latency": &f.NetLatency}
	switch {
	case whole[key] != nil:
		*whole[key], err = strconv.Atoi(value)
	case key == "joined":
		f.Joined = value
	case key == "links":
		for _, one := range strings.Split(value, "+") {
			n, wrong := strconv.Atoi(one)
			if wrong != nil || n < 0 {
				return fmt.Errorf("numbers of links are expected, as 4+4+4")
			}
			f.Links = append(f.Links, n)
		}
	case key == "pcie":
		f.PCIe, err = strconv.ParseFloat(value, 64)
	case key == "nics":
		n, each, ok := strings.Cut(value, "x")
		if !ok {
			return fmt.Errorf("a number and a rate are expected, as 8x50")
		}
		if f.NICs, err = strconv.Atoi(n); err == nil {
			f.NICRate, err = strconv.ParseFloat(each, 64)
		}
	default:
		return fmt.Errorf("sm, joined, gpus, links, pcie, nics, net-latency, multicast, far-nics or " +
			"amd is expected")
	}
	return err
}

// What facts have at most: of an SM, GPUs and NICs of a node, and links of a GPU, GB/s, and
// microseconds.
const (
	mostOf      = 4096
	mostRate    = 1e5
	mostLatency = 1_000_000
)

// check refuses what no node has.
func (f *Facts) check() error {
	links := 0
	for _, n := range f.Links {
		links += min(n, mostOf+1)
	}
	inRange := func(x float64) bool { return x >= 0 && x <= mostRate }
	switch {
	case f.SM < 50 || f.SM > mostOf:
		return fmt.Errorf("sm=%d: a compute capability from 50 on is expected", f.SM)
	case f.Joined != bySwitch && f.Joined != byLinks && f.Joined != byPCIe:
		return fmt.Errorf("joined=%s: switch, links or pcie is expected", f.Joined)
	case f.GPUs < 1 || f.GPUs > mostOf || f.NICs < 0 || f.NICs > mostOf || links > mostOf:
		return fmt.Errorf("1 to %d GPUs, and NICs and links up to %d, are expected", mostOf, mostOf)
	case f.NetLatency < 0 || f.NetLatency > mostLatency:
		return fmt.Errorf("net-latency=%d: microseconds up to %d are expected", f.NetLatency,
			mostLatency)
	case f.Found != nil && f.Found.check() != nil:
		return f.Found.check()
	case !inRange(f.PCIe) || !inRange(f.NICRate):
		return fmt.Errorf("rates up to %g GB/s are expected", mostRate)
	}
	return nil
}
