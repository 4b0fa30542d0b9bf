package ncclxml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/system"
	"collsim/machine"
	"collsim/unit"
)

// Read reads a topology file as a machine. name is that of the file. device is the GPU that
// device.preset names, or empty; it takes precedence over the PCI device id. Errors are *Error.
func Read(name string, data []byte, device string) (*machine.Machine, error) {
	f, err := read(name, data, device)
	if err != nil {
		return nil, err
	}
	m, err := f.sys.Machine(f.facts)
	if err != nil {
		return nil, f.wrong(nil, "%v", err)
	}
	return m, nil
}

// file holds the state of reading a topology file.
type file struct {
	name  string
	root  *element
	sys   *system.System
	facts system.Facts
	model system.Model

	hosts   map[string]int // by host_hash
	cpus    map[string]int // nodes, by host and numaid
	rates   map[int]unit.Rate
	others  map[int][]string // NUMA domains to which a processor has a link; nil: all
	bridges map[string]int   // nodes, by host and bus id
	peers   []peer
	gpus    []gpu
	devs    []int          // numbers of NICs in the driver, −1 if the file has none
	fabrics map[int]string // the network of each NIC
}

// gpu is a GPU that has no number yet.
type gpu struct {
	pci, tag   *element // tag is <gpu>, nil where there is none
	node       int
	parent     int
	host       int
	rate       unit.Rate // of its PCIe
	dev        int       // its number in the driver, −1 if the file has none
	vendor, id int
}

// peer is a link between two PCIe switches outside of their tree.
type peer struct {
	from   int
	host   int
	target string
}

// wrong makes an error at an element, nil for the whole file.
func (f *file) wrong(e *element, format string, args ...any) error {
	line := 0
	if e != nil {
		line = e.line
	}
	return system.Errorf(f.name, line, format, args...)
}

// read makes the system of a file.
func read(name string, data []byte, device string) (*file, error) {
	root, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, root: root, sys: &system.System{}, hosts: map[string]int{},
		cpus: map[string]int{}, rates: map[int]unit.Rate{}, others: map[int][]string{},
		bridges: map[string]int{},
		fabrics: map[int]string{}}
	if err := f.isTopology(); err != nil {
		return nil, err
	}
	for _, e := range root.kids {
		if e.name == "cpu" {
			if err := f.cpu(e); err != nil {
				return nil, err
			}
		}
	}
	if len(f.gpus) == 0 {
		return nil, f.wrong(nil, "names no GPU: there is no <gpu>, and no <pci> whose class is 0x03…; "+
			"NCCL would ask the driver. nvidia-smi topo -m has what is missing")
	}
	if err := f.order(); err != nil {
		return nil, err
	}
	f.orderNICs()
	if err := f.sys.Check(); err != nil {
		return nil, f.wrong(nil, "%v", err)
	}
	if err := f.device(device); err != nil {
		return nil, err
	}
	if err := f.links(); err != nil {
		return nil, err
	}
	f.sys.JoinCPUs(func(v int) unit.Rate { return f.rates[v] }, func(a, b int) bool {
		return f.hasPeer(a, b) && f.hasPeer(b, a)
	})
	return f, f.extras()
}

// isTopology refuses other XML files and names what they are.
func (f *file) isTopology() error {
	switch f.root.name {
	case "system":
		return nil
	case "graphs":
		return f.wrong(f.root, "is a graph file (NCCL_GRAPH_FILE): the rings and trees that NCCL found; "+
			"it is no topology")
	case "algo", "Algo":
		return f.wrong(f.root, "is a schedule (<%s>); <system> is expected", f.root.name)
	case "topology":
		return f.wrong(f.root, "is a topology of hwloc; <system>, as NCCL_TOPO_DUMP_FILE writes it, is "+
			"expected")
	}
	return f.wrong(f.root, "is XML of <%.40s>; <system>, as NCCL_TOPO_DUMP_FILE writes it, is "+
		"expected",
		f.root.name)
}

// cpu adds a processor and all that is attached to it.
func (f *file) cpu(e *element) error {
	host, ok := f.hosts[e.at["host_hash"]]
	if !ok {
		host = len(f.hosts)
		f.hosts[e.at["host_hash"]] = host
	}
	numa := strings.TrimSpace(e.at["numaid"])
	if numa == "" {
		numa = strconv.Itoa(len(f.cpus))
	} else if _, err := strconv.Atoi(numa); err != nil {
		return f.wrong(e, "<cpu numaid=%.40q>: a whole number is expected", numa)
	}
	id := fmt.Sprint(host, "/", numa)
	v, ok := f.cpus[id]
	if !ok {
		if len(f.cpus) == system.MaxCPUs {
			return f.wrong(e, "has more than %d processors", system.MaxCPUs)
		}
		v = f.sys.Add(system.Node{Kind: system.CPU, Name: "NUMA " + numa, Host: host})
		f.cpus[id] = v
		rate, err := f.socket(e)
		if err != nil {
			return err
		}
		f.rates[v] = rate
		if text, ok := e.at[peersOf]; ok {
			f.others[v] = append([]string{}, strings.Fields(text)...)
		}
	}
	for _, k := range e.kids {
		switch k.name {
		case "pci":
			if err := f.pci(k, v, host, 0); err != nil {
				return err
			}
		case "nic":
			if err := f.nic(k, nil, v, unit.Unlimited); err != nil {
				return err
			}
		}
	}
	return nil
}

// socket returns NCCL's rate between a processor and another one, and records the model
// (src/graph/topo.cc, ncclTopoGetInterCpuBw; src/graph/topo.h).
func (f *file) socket(e *element) (unit.Rate, error) {
	family, err := e.number(f.name, "familyid", 0)
	if err != nil {
		return 0, err
	}
	model, err := e.number(f.name, "modelid", 0)
	if err != nil {
		return 0, err
	}
	vendor, arch := e.at["vendor"], e.at["arch"]
	gbps := 6 // Intel's up to Broadwell, ARM, Zhaoxin
	name := strings.TrimSpace(vendor)
	switch {
	case arch == "ppc64":
		gbps, name = 32, "POWER"
	case arch == "arm64":
		name = "ARM"
	case vendor == "AuthenticAMD":
		gbps, name = 16, "AMD"
	case vendor == "GenuineIntel":
		name = "Intel"
		if family == 6 {
			gbps = map[bool]int{true: 10, false: 6}[model >= 0x55]
			if model >= 0x8f {
				gbps = 22
			}
			if model >= 0xcf {
				gbps = 40
			}
		}
	case vendor == "" && arch == "":
		gbps, name = 16, "of no vendor that the file names; taken as AMD"
	case family == 7 && model == 0x5b:
		gbps = 9
	}
	if f.facts.CPUs == "" {
		f.facts.CPUs = name
		if family > 0 {
			f.facts.CPUs = fmt.Sprintf("%s, family %d, model %d", name, family, model)
		}
	}
	return f.rate(e, unit.Rate(gbps)*unit.Rate(unit.GB))
}

// hasPeer reports whether a processor has a link to another one, according to the attributes of
// Write.
func (f *file) hasPeer(a, b int) bool {
	numa := strings.TrimPrefix(f.sys.Nodes[b].Name, "NUMA ")
	return f.others[a] == nil || slices.Contains(f.others[a], numa)
}

// rate returns the rate that a tag of Write states as reached, or else NCCL's.
func (f *file) rate(e *element, counted unit.Rate) (unit.Rate, error) {
	text, ok := e.at[reached]
	if !ok {
		return counted, nil
	}
	rate, err := unit.ParseRate(text)
	if err != nil || rate <= 0 {
		return 0, f.wrong(e, "<%s %s=%.40q>: a rate is expected", e.name, reached, text)
	}
	return rate, nil
}
