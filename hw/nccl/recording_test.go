package nccl

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
)

// recording is a file of results that the real NCCL has left on a GPU, nccl-bits-*.json in a folder
// whose SHA256SUMS lists all its files but README.md.
type recording struct {
	Command, Date, GPU, Driver, CUDA, NCCL string
	Generator                              string // "splitmix64", see generated
	Seed                                   uint64
	Calls                                  []recordedCall
}

// recordedCall is a collective, how NCCL did it as its log says, and what came of it.
type recordedCall struct {
	Kind, Op, DType     string // as in a scenario; of premulsum Factor is the factor
	Factor              float64
	Ranks, Root         int
	Count               int64
	InPlace             bool   `json:"in_place"`
	Algorithm, Protocol string // as in the log, in any case
	Lo, Hi              int    // channels, as in the log
	NChannels           int    // of the communicator
	Machine             string // of package algos/nccl, for how its graphs look: "socket"
	PerNode             int    `json:"per_node"`
	// Outputs are those of all ranks in base64, or SHA256 their checksums where they are long. A rank
	// that has none has an empty text.
	Outputs, SHA256 []string
	Explained       string // why the bits are not those that are predicted; "" where they are
}

// loadRecordings reads the recordings of a folder; of one that is not there, none.
func loadRecordings(dir string) (all []recording, err error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	sums, errSums := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil || errSums != nil {
		return nil, fmt.Errorf("%s: %w", dir, firstOf(err, errSums))
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		words := strings.Fields(line)
		if len(words) != 2 {
			return nil, fmt.Errorf("SHA256SUMS: %q: a checksum and a name are expected", line)
		}
		listed[words[1]] = words[0]
	}
	for _, e := range entries {
		name := e.Name()
		if name == "README.md" || name == "SHA256SUMS" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != listed[name] {
			return nil, fmt.Errorf("%s: its checksum is not that of SHA256SUMS, %q", name, listed[name])
		}
		delete(listed, name)
		if !strings.HasPrefix(name, "nccl-bits-") {
			continue
		}
		r := recording{}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := r.complete(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	for name := range listed {
		return nil, fmt.Errorf("%s is in SHA256SUMS and not there", name)
	}
	return all, nil
}

func firstOf(list ...error) error {
	return list[slices.IndexFunc(list, func(err error) bool { return err != nil })]
}

// complete says what a recording lacks.
func (r *recording) complete() error {
	for _, fact := range [][2]string{{"command", r.Command}, {"date", r.Date}, {"gpu", r.GPU},
		{"driver", r.Driver}, {"cuda", r.CUDA}, {"nccl", r.NCCL}} {
		if fact[1] == "" {
			return fmt.Errorf("it does not say its %s", fact[0])
		}
	}
	if r.Generator != "splitmix64" {
		return fmt.Errorf("generator %q is not known", r.Generator)
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		if n := max(len(c.Outputs), len(c.SHA256)); n != c.Ranks || len(c.Outputs)*len(c.SHA256) > 0 {
			return fmt.Errorf("call %d: outputs of %d ranks, or their checksums, are expected", i, c.Ranks)
		}
		if _, err := c.spec(); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
	}
	return nil
}

// spec is the collective.
func (c *recordedCall) spec() (s collective.Spec, err error) {
	s = collective.Spec{Ranks: c.Ranks, Count: c.Count, Root: c.Root, InPlace: c.InPlace,
		Factor: c.Factor}
	if s.Kind, err = collective.ParseKind(c.Kind); err != nil {
		return s, err
	}
	if s.Kind.Reduces() {
		if s.Op, _, err = collective.ParseOp(c.Op); err != nil {
			return s, err
		}
	}
	if s.Type, err = dtype.Parse(c.DType); err != nil {
		return s, err
	}
	return s, s.Validate()
}

// String is such as "reduce_scatter sum bfloat16, 4 ranks of 1000, by PAT Simple".
func (c *recordedCall) String() string {
	return fmt.Sprintf("%s %s %s, %d ranks of %d, by %s %s", c.Kind, c.Op, c.DType, c.Ranks, c.Count,
		c.Algorithm, c.Protocol)
}

// mix is the output function of splitmix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// generated are the elements of a rank's input: of z = mix(mix(mix(seed) + rank) + element), an
// integer is its lowest bits, and a float the upper 24 bits as an integer, less 2²³, over 2 to the
// power of 20 and the lowest three bits, rounded to the type: from -8 on, below 8. Numbers of
// several magnitudes have sums that depend on the order.
func generated(seed uint64, rank int, count int64, t dtype.Type) []byte {
	b := make([]byte, 0, count*int64(t.Width()))
	of := mix(mix(seed) + uint64(rank))
	for i := range count {
		z := mix(of + uint64(i))
		if t.IsFloat() {
			x := math.Ldexp(float64(int64(z>>40)-1<<23), -20-int(z&7))
			b = appendFloat(b, t, x)
			continue
		}
		b = append(b, binary.LittleEndian.AppendUint64(nil, z)[:t.Width()]...)
	}
	return b
}

func appendFloat(b []byte, t dtype.Type, x float64) []byte {
	one := make([]byte, t.Width())
	switch t {
	case dtype.Float64:
		dtype.Put(one, []float64{x})
	case dtype.Float32:
		dtype.Put(one, []float32{float32(x)})
	case dtype.Float16:
		dtype.Put(one, []dtype.F16{dtype.From[dtype.F16](x)})
	case dtype.BFloat16:
		dtype.Put(one, []dtype.BF16{dtype.From[dtype.BF16](x)})
	case dtype.Float8E4M3:
		dtype.Put(one, []dtype.E4M3{dtype.From[dtype.E4M3](x)})
	case dtype.Float8E5M2:
		dtype.Put(one, []dtype.E5M2{dtype.From[dtype.E5M2](x)})
	}
	return append(b, one...)
}

// differs says where outputs are not those that were recorded; "" if they are.
func (c *recordedCall) differs(got [][]byte) string {
	s, err := c.spec()
	if err != nil {
		return err.Error()
	}
	width := s.Type.Width()
	for rank := range got {
		if c.SHA256 != nil {
			if sum := sha256.Sum256(got[rank]); hex.EncodeToString(sum[:]) != c.SHA256[rank] {
				return fmt.Sprintf("rank %d: another checksum", rank)
			}
			continue
		}
		want, err := base64.StdEncoding.DecodeString(c.Outputs[rank])
		if err != nil || len(want) != len(got[rank]) {
			return fmt.Sprintf("rank %d: %d bytes are recorded, %d are expected (%v)", rank, len(want),
				len(got[rank]), err)
		}
		for at := 0; at < len(want); at += width {
			if a, b := want[at:at+width], got[rank][at:at+width]; !bytes.Equal(a, b) {
				return fmt.Sprintf("rank %d element %d: %x recorded, %x predicted", rank, at/width, a, b)
			}
		}
	}
	return ""
}
