package recorded

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"collsim/collective"
	"collsim/dtype"
)

// Bits holds calls of NCCL. The files of one command together hold its planned calls, less those
// that NCCL refused.
type Bits struct {
	Head
	Planned, Refused int
	Inputs           []Input
	Calls            []Call
}

// A Call is a collective with its outputs, and NCCL's choice from its log.
type Call struct {
	Kind, Op, DType     string // as in a scenario; of premulsum Factor is the factor
	Factor              float64
	Ranks, Root         int
	Count               int64
	InPlace             bool   `json:"in_place"`
	Algorithm, Protocol string // as in the log, in any case; empty for one rank
	Lo, Hi              int    // channels, as in the log
	NChannels           int    // of the communicator
	Machine             string // name in package algos/nccl of its topology: "socket"
	PerNode             int    `json:"per_node"`
	// Outputs holds the outputs of all ranks in base64; SHA256 holds checksums of long ones. A
	// single entry stands for all ranks. A rank without output has an empty text.
	Outputs, SHA256 []string
	Explained       string // why the bits differ from the prediction; "" if they do not
}

// complete checks that nothing is missing in the recording, and that its calls have outputs if
// hasOutputs, else none.
func (b *Bits) complete(hasOutputs bool) error {
	if len(b.Calls) == 0 && len(b.Failed) == 0 {
		return fmt.Errorf("it has no calls, and nothing is said to have failed")
	}
	for i := range b.Inputs {
		if err := b.Inputs[i].check(b.Seed); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	for i := range b.Calls {
		c := &b.Calls[i]
		n := max(len(c.Outputs), len(c.SHA256))
		if len(c.Outputs)*len(c.SHA256) > 0 || (n > 0) != hasOutputs || n > 1 && n != c.Ranks {
			return fmt.Errorf("call %d: outputs of %d ranks, or their checksums, are expected", i, c.Ranks)
		}
		if _, err := c.Spec(); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
		if c.Ranks > 1 && (c.Algorithm == "" || c.Protocol == "" || c.NChannels < 1 || c.Hi < c.Lo) {
			return fmt.Errorf("call %d: it does not say how NCCL did it", i)
		}
	}
	return nil
}

// An Input is the checksum of a rank's first elements of a type.
type Input struct {
	DType    string
	Rank     int
	Elements int64
	SHA256   string
}

// check generates the elements again and compares the checksum.
func (in *Input) check(seed uint64) error {
	t, err := dtype.Parse(in.DType)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(Generated(seed, in.Rank, in.Elements, t))
	if hex.EncodeToString(sum[:]) != in.SHA256 {
		return fmt.Errorf("%s of rank %d: the generator makes others", t, in.Rank)
	}
	return nil
}

// Spec returns the collective of the call.
func (c *Call) Spec() (s collective.Spec, err error) {
	s = collective.Spec{Ranks: c.Ranks, Count: c.Count, Root: c.Root, InPlace: c.InPlace}
	if s.Kind, err = collective.ParseKind(c.Kind); err != nil {
		return s, err
	}
	if s.Kind.Reduces() {
		op := c.Op
		if c.Factor != 0 {
			op = fmt.Sprintf("%s(factor=%v)", c.Op, c.Factor)
		}
		if s.Op, s.Factor, err = collective.ParseOp(op); err != nil {
			return s, err
		}
	}
	if s.Type, err = dtype.Parse(c.DType); err != nil {
		return s, err
	}
	return s, s.Validate()
}

// String formats the call, as in "reduce_scatter sum bfloat16, 4 ranks of 1000, by PAT Simple".
func (c *Call) String() string {
	return fmt.Sprintf("%s %s %s, %d ranks of %d, by %s %s", c.Kind, c.Op, c.DType, c.Ranks, c.Count,
		c.Algorithm, c.Protocol)
}

// mix returns the output function of splitmix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Generated returns the elements of a rank's input. Let z = mix(mix(mix(seed) + rank) + element).
// An integer has the lowest bits of z. A float is (z>>40 − 2²³) / 2^(20 + z mod 8), rounded to the
// type, which is in [−8, 8). Sums of such numbers of several magnitudes depend on the order.
func Generated(seed uint64, rank int, count int64, t dtype.Type) []byte {
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

// appendFloat encodes a float, rounded to the type.
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

// Differs reports where the outputs of all ranks differ from the recorded ones; "" if they do not.
func (c *Call) Differs(got [][]byte) string {
	s, err := c.Spec()
	if err != nil {
		return err.Error()
	}
	width := s.Type.Width()
	for rank, mine := range got {
		if c.SHA256 != nil {
			want := of(c.SHA256, rank)
			sum := sha256.Sum256(mine)
			if hex.EncodeToString(sum[:]) != want && (want != "" || len(mine) > 0) {
				return fmt.Sprintf("rank %d: another checksum", rank)
			}
			continue
		}
		want, err := base64.StdEncoding.DecodeString(of(c.Outputs, rank))
		if err != nil || len(want) != len(mine) {
			return fmt.Sprintf("rank %d: %d bytes are recorded, %d are expected (%v)", rank, len(want),
				len(mine), err)
		}
		for at := 0; at < len(want); at += width {
			if a, b := want[at:at+width], mine[at:at+width]; !bytes.Equal(a, b) {
				return fmt.Sprintf("rank %d element %d: %x recorded, %x predicted", rank, at/width, a, b)
			}
		}
	}
	return ""
}

// of returns a rank's text, or the one that stands for all.
func of(texts []string, rank int) string {
	if len(texts) == 1 {
		return texts[0]
	}
	return texts[rank]
}
