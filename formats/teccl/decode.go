package teccl

import (
	"io"
	"math"

	"collsim/formats/internal/strictjson"
)

// Limits of a file.
const (
	maxNode  = 1<<16 - 1
	maxChunk = 1 << 20
	maxEpoch = 1 << 28
)

// solution holds the contents of a file.
type solution struct {
	epochs                  int
	duration, finish, algbw float64
	hops                    int // number of entries in "7-Flows"
	flows                   []hop
	demands                 []demand
	gpus                    []int // ascending
}

// hop is one hop of a chunk on its path.
type hop struct {
	chunk, source, from, to, epoch int
	volume                         float64 // share of the chunk
	line                           int
}

// demand is a chunk of a source that a GPU needs, and its paths, if the file has them.
type demand struct {
	at, chunk, source int
	paths             [][]hop
	line              int
}

type decoder struct {
	*strictjson.Reader
	s *solution
}

// keyFlows and keyPaths are keys that the code refers to.
const (
	keyFlows = "7-Flows"
	keyPaths = "8-Chunk paths"
)

// older maps keys of older versions, which did not write when demands are met.
func older(key string) string {
	switch key {
	case "6-Flows":
		return keyFlows
	case "7-Chunk paths", "7-chunk paths":
		return keyPaths
	}
	return key
}

func decode(r io.Reader, file string) (*solution, error) {
	d := decoder{strictjson.New(r, file), &solution{}}
	var unused float64
	number := func(to *float64) func() error {
		return func() (err error) {
			*to, err = d.Float()
			return err
		}
	}
	legal := []string{"1-Epoch_Duration", "2-Expected_Epoch_Duration", "3-Epochs_Required",
		"4-Collective_Finish_Time", "5-Algo_Bandwidth", "6-Demand_Met", keyFlows, keyPaths,
		"Solver_Time"}
	read := []func() error{number(&d.s.duration), number(&unused),
		func() error {
			n, err := d.Int(0, maxEpoch)
			d.s.epochs = int(n)
			return err
		},
		number(&d.s.finish), number(&d.s.algbw), d.met, d.flowList, d.pathList, number(&unused)}
	given := map[string]bool{}
	err := d.Object(func(key string) error {
		switch key {
		case "TopologyParams", "GurobiParams", "InstanceParams":
			return d.Errorf("%s: this is a solver input, not a schedule", key)
		}
		key = older(key)
		if given[key] {
			return d.Errorf("%q is there in two ways", key)
		}
		given[key] = true
		for i, name := range legal {
			if name == key {
				return read[i]()
			}
		}
		return d.Unknown("key", key, legal...)
	})
	if err != nil {
		return nil, err
	}
	for _, key := range legal[:7] {
		if !given[key] && key != "6-Demand_Met" {
			return nil, d.Errorf("the file has no %q", key)
		}
	}
	return d.s, d.End()
}

// met reads the times at which demands are met, which name the demands.
func (d decoder) met() error {
	return d.Object(func(gpu string) error {
		p := words{text: gpu}
		at := p.number("GPU ", maxNode)
		if !p.done() {
			return d.Errorf("%.40q: \"GPU 3\" is expected", gpu)
		}
		return d.Object(func(gpu string) error {
			p := words{text: gpu}
			source := p.number("GPU ", maxNode)
			if !p.done() {
				return d.Errorf("%.40q: \"GPU 3\" is expected", gpu)
			}
			return d.Object(func(name string) error {
				p := words{text: name}
				chunk := p.number("Chunk ", maxChunk)
				if !p.done() {
					return d.Errorf("%.40q: \"Chunk 0\" is expected", name)
				}
				d.s.demands = append(d.s.demands, demand{at: at, chunk: chunk, source: source,
					line: d.Line()})
				_, err := d.Float()
				return err
			})
		})
	})
}

// flowList reads the flows.
func (d decoder) flowList() error {
	return d.Array(func(int) error {
		text, err := d.String()
		if err != nil {
			return err
		}
		p := words{text: text}
		f := hop{line: d.Line(), chunk: p.number("Chunk ", maxChunk)}
		f.source = p.number(" from ", maxNode)
		p.literal(" traveled over ")
		p.hop(&f)
		if !p.done() {
			return d.Errorf("%.80q: \"Chunk 0 from 3 traveled over 2->6 in epoch 4\" is expected", text)
		}
		if f.from == f.to {
			return d.Errorf("a flow from %d to itself", f.from)
		}
		d.s.hops++
		d.s.flows = append(d.s.flows, f)
		return nil
	})
}

// pathList reads the paths of all demands. A demand has a list of hops, or a list of paths, which
// are lists of [epoch, hop].
func (d decoder) pathList() error {
	return d.Object(func(key string) error {
		p := words{text: key}
		x := demand{line: d.Line(), at: p.number("Demand at ", maxNode)}
		x.chunk = p.number(" for chunk ", maxChunk)
		x.source = p.number(" from ", maxNode)
		p.number(" met by epoch ", maxEpoch)
		if !p.done() {
			return d.Errorf("%.80q: \"Demand at 1 for chunk 0 from 2 met by epoch 3\" is expected", key)
		}
		var whole []hop
		err := d.Array(func(int) error {
			split, err := d.Composite()
			if err != nil {
				return err
			}
			if split {
				path, err := d.path(&x)
				x.paths = append(x.paths, path)
				return err
			}
			f, err := d.hop(&x)
			whole = append(whole, f)
			return err
		})
		if len(whole) > 0 {
			x.paths = append(x.paths, whole)
		}
		d.s.demands = append(d.s.demands, x)
		return err
	})
}

// path reads the hops of a part of a chunk, each after its epoch.
func (d decoder) path(x *demand) (path []hop, err error) {
	err = d.Array(func(int) error {
		epoch := int64(-1)
		return d.Array(func(i int) error {
			switch i {
			case 0:
				epoch, err = d.Int(0, maxEpoch)
				return err
			case 1:
				f, err := d.hop(x)
				if err == nil && int64(f.epoch) != epoch {
					return d.Errorf("a hop in epoch %d under epoch %d", f.epoch, epoch)
				}
				path = append(path, f)
				return err
			}
			return d.Errorf("an epoch and a hop are expected")
		})
	})
	return path, err
}

// hop reads a sentence such as "2->6 with volume 0.2 in epoch 4 via switches 17".
func (d decoder) hop(x *demand) (hop, error) {
	f := hop{chunk: x.chunk, source: x.source}
	text, err := d.String()
	if err != nil {
		return f, err
	}
	f.line = d.Line()
	p := words{text: text}
	p.hop(&f)
	if !p.done() {
		return f, d.Errorf("%.80q: \"2->6 in epoch 4\" is expected", text)
	}
	if f.from == f.to {
		return f, d.Errorf("a hop from %d to itself", f.from)
	}
	return f, nil
}

// whole reports whether a volume is a whole chunk, within rounding.
func whole(volume float64) bool { return math.Abs(volume-1) < rounding }

// rounding is the largest error of volumes: the solver prints some with six digits.
const rounding = 1e-3
