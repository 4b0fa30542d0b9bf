package sccl

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"collsim/formats/internal/strictjson"
)

// Limits of a file.
const (
	maxRanks   = 1 << 16
	maxAddress = 1 << 24
)

// algorithm holds the contents of a file.
type algorithm struct {
	name     string
	taccl    bool
	kindKey  string        // "msccl_type" or "sccl_type"
	steps    int64         // of the instance
	divisor  int64         // number of chunks that the instance makes of each
	pipeline int64         // steps after which the next instance begins; 0 for never
	inputs   map[int][]int // by rank: addresses
	outputs  map[int][]int // likewise
	rounds   []int64       // of each step
	sends    []send        // of all steps
	coll     struct {
		name   string
		nodes  int
		chunks []chunk
	}
	topology struct {
		name     string
		links    [][]float64 // [destination][source]
		switches []crossbar
	}
}

// send moves the chunk at an address.
type send struct {
	addr, src, dst int
	op             operation
	step           int32
	line           int
}

// operation is the receiver's operation.
type operation uint8

const (
	derived operation = iota // inferred from the chunks that it holds
	copying
	reducing
)

// chunk is a chunk that the ranks of pre hold initially and those of post need in the end.
type chunk struct {
	pre, post []int
	addr      int
}

// crossbar bounds the total from all sources to all destinations in a round.
type crossbar struct {
	sources, destinations []int
	bandwidth             float64
	name                  string
}

// decoder reads a file.
type decoder struct {
	*strictjson.Reader
	a *algorithm
}

func decode(r io.Reader, file string) (*algorithm, error) {
	d := decoder{strictjson.New(r, file), &algorithm{divisor: 1}}
	known := map[string]func() error{
		"name": d.text(&d.a.name), "instance": d.instance,
		"input_map":  func() error { return d.addresses(&d.a.inputs) },
		"output_map": func() error { return d.addresses(&d.a.outputs) },
		"steps":      d.steps, "collective": d.collective, "topology": d.topology,
	}
	if err := d.object("algorithm", known, ""); err != nil {
		return nil, err
	}
	return d.a, d.End()
}

// object reads an object of a type. All keys are required but those in optional, which are
// separated by blanks.
func (d decoder) object(kind string, known map[string]func() error, optional string) error {
	legal := slices.Sorted(maps.Keys(known))
	given := map[string]bool{}
	typed := false
	err := d.Object(func(key string) error {
		if key == "msccl_type" || key == "sccl_type" {
			typed = true
			return d.kind(key, kind)
		}
		read := known[key]
		if read == nil {
			return d.Unknown("key", key, legal...)
		}
		given[key] = true
		return read()
	})
	if err != nil {
		return err
	}
	if !typed {
		return d.Errorf("the object has no msccl_type; %q is expected", kind)
	}
	for _, key := range legal {
		if !given[key] && !contains(optional, key) {
			return d.Errorf("the %s has no %s", kind, key)
		}
	}
	return nil
}

// kind reads the type of an object. All of a file must be of one tool.
func (d decoder) kind(key, want string) error {
	got, err := d.String()
	if err != nil {
		return err
	}
	if d.a.kindKey != "" && key != d.a.kindKey {
		return d.Errorf("%s in a file with %s", key, d.a.kindKey)
	}
	d.a.kindKey = key
	if got != want {
		return d.Errorf("%s %.40q: %q is expected here", key, got, want)
	}
	return nil
}

func (d decoder) text(to *string) func() error {
	return func() (err error) {
		*to, err = d.String()
		return err
	}
}

func (d decoder) whole(to *int64, low, high int64) func() error {
	return func() (err error) {
		*to, err = d.Int(low, high)
		return err
	}
}

func (d decoder) orNull(read func() error) func() error {
	return func() error {
		if null, err := d.Null(); null || err != nil {
			return err
		}
		return read()
	}
}

func (d decoder) instance() error {
	var unused int64
	return d.object("instance", map[string]func() error{
		"steps":        d.whole(&d.a.steps, 0, math.MaxInt32),
		"extra_rounds": d.whole(&unused, 0, math.MaxInt32),
		"chunks":       d.whole(&d.a.divisor, 1, maxAddress),
		"pipeline":     d.orNull(d.whole(&d.a.pipeline, 1, math.MaxInt32)),
		"extra_memory": d.orNull(d.whole(&unused, 0, math.MaxInt32)),
		"allow_exchange": func() error {
			_, err := d.Bool()
			return err
		},
	}, "")
}

// numbers reads an array of whole numbers.
func (d decoder) numbers(high int) (list []int, err error) {
	err = d.Array(func(int) error {
		n, err := d.Int(0, int64(high))
		list = append(list, int(n))
		return err
	})
	return list, err
}

// addresses reads the map from ranks to their addresses.
func (d decoder) addresses(to *map[int][]int) error {
	*to = map[int][]int{}
	return d.Object(func(key string) error {
		rank := -1
		if _, err := fmt.Sscanf(key, "%d", &rank); err != nil || fmt.Sprint(rank) != key ||
			rank < 0 || rank >= maxRanks {
			return d.Errorf("rank %.40q: a number below %d is expected", key, maxRanks)
		}
		list, err := d.numbers(maxAddress)
		(*to)[rank] = list
		return err
	})
}

func (d decoder) steps() error {
	return d.Array(func(i int) error {
		rounds := int64(0)
		err := d.object("step", map[string]func() error{
			"rounds": d.whole(&rounds, 0, math.MaxInt32),
			"sends": func() error {
				return d.Array(func(int) error { return d.send(int32(i)) })
			},
		}, "")
		d.a.rounds = append(d.a.rounds, rounds)
		return err
	})
}

// send reads [address, source, destination, time, link, operation]; TACCL may have written the last
// three.
func (d decoder) send(step int32) error {
	s := send{step: step}
	fields := 0
	err := d.Array(func(i int) error {
		fields = i + 1
		switch {
		case i < 3:
			limits := [3]int64{maxAddress, maxRanks - 1, maxRanks - 1}
			n, err := d.Int(0, limits[i])
			*[3]*int{&s.addr, &s.src, &s.dst}[i] = int(n)
			return err
		case i == 3:
			s.line = d.Line()
			_, err := d.Float() // the time in the solution; the step suffices
			return err
		case i == 4:
			_, err := d.Int(0, math.MaxInt32) // number of the link, where there are several
			return err
		case i == 5:
			return d.operation(&s)
		}
		return d.Errorf("a send has 3 to 6 fields")
	})
	if err != nil {
		return err
	}
	if fields < 3 {
		return d.Errorf("a send of %d fields; address, source and destination are expected", fields)
	}
	if s.src == s.dst {
		return d.Errorf("a send from rank %d to itself", s.src)
	}
	s.line = d.Line()
	d.a.sends = append(d.a.sends, s)
	return nil
}

func (d decoder) operation(s *send) error {
	s.op = copying
	null, err := d.Null()
	if null || err != nil {
		return err
	}
	name, err := d.String()
	if err != nil {
		return err
	}
	if s.op = reducing; name != "rrc" {
		return d.Unknown("operation", name, "rrc", "null")
	}
	return nil
}
