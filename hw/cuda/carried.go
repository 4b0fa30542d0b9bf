package cuda

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"collsim/dtype"
	"collsim/hw"
	"collsim/internal/input"
	"collsim/kernel"
)

// packed holds kernels for machines without NVRTC: PTX, which the driver compiles for its GPU.
// NVRTC has compiled them from the sources in this directory, by
//
//	COLLSIM_PTX_NVRTC=…/libnvrtc.so.12 go test ./hw/cuda -run TestCarried -update
//
// The NVRTC is of an early release, since a driver only takes PTX that is no newer than itself.
//
//go:embed carried.ptx.gz
var packed []byte

// carriedTarget is the oldest compute capability of the carried kernels: Turing. Newer GPUs run
// them, too.
const carriedTarget = 75

// Headers of a list of carried kernels, and of each kernel in it.
const (
	listOf = "// collsim NVRTC %d.%d sources %s\n"
	oneOf  = "//= "
)

// carriedKernels holds kernels in PTX, by their options (kernelName.defines). It records the NVRTC
// version and the checksum of the sources.
type carriedKernels struct {
	nvrtc   [2]int32
	sources string
	ptx     map[string]string
}

// carried unpacks the embedded kernels. It panics if they are damaged; a test checks them.
var carried = sync.OnceValue(func() *carriedKernels {
	unzipped, err := input.Limit{}.Unpacked(bytes.NewReader(packed))
	if err != nil {
		panic("cuda: carried kernels: " + err.Error())
	}
	text, err := input.Limit{}.All(unzipped)
	if err != nil {
		panic("cuda: carried kernels: " + err.Error())
	}
	k := &carriedKernels{ptx: map[string]string{}}
	head, rest, _ := strings.Cut(string(text), oneOf)
	fmt.Sscanf(head, listOf, &k.nvrtc[0], &k.nvrtc[1], &k.sources)
	for _, one := range strings.Split(rest, "\n"+oneOf) {
		defines, ptx, _ := strings.Cut(one, "\n")
		k.ptx[defines] = ptx
	}
	return k
})

// sourcesSum returns a checksum of the kernels' sources.
func sourcesSum() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(numbers+steps+programs)))
}

// stepNames lists all step kernels: one for each type, and one that computes in float32 for each
// narrower float type.
func stepNames() (list []kernelName) {
	for _, t := range dtype.All() {
		list = append(list, kernelName{of: t})
		if widens(t) {
			list = append(list, kernelName{of: t, wide: true})
		}
	}
	return list
}

// carriedNames lists the carried kernels: all of steps, and those of programs in 16- and 32-bit
// floats, with products of 8-bit floats.
func carriedNames() []kernelName {
	list := stepNames()
	add := func(o kernel.Op) { list = append(list, programOf(o)) }
	add(kernel.Op{Kind: kernel.Opaque})
	for _, t := range []dtype.Type{dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64} {
		add(kernel.Op{Kind: kernel.Move, A: t, Out: t})
		add(kernel.Op{Kind: kernel.Expand, A: t, Out: t})
	}
	floats := []dtype.Type{dtype.Float32, dtype.Float16, dtype.BFloat16}
	for _, a := range floats {
		for _, out := range floats {
			if out != a {
				add(kernel.Op{Kind: kernel.Cast, A: a, Out: out})
			}
			if out == a || out == dtype.Float32 {
				add(kernel.Op{Kind: kernel.Matmul, A: a, B: a, Out: out})
				add(kernel.Op{Kind: kernel.Matmul, A: a, B: a, Out: out, TransposeA: true})
				add(kernel.Op{Kind: kernel.Matmul, A: a, B: a, Out: out, TransposeB: true})
				add(kernel.Op{Kind: kernel.Scale, A: a, Out: out})
				add(kernel.Op{Kind: kernel.Sum, A: a, Out: out})
				add(kernel.Op{Kind: kernel.Mean, A: a, Out: out})
			}
		}
		add(kernel.Op{Kind: kernel.Add, A: a, B: a, Out: a})
		e4m3 := dtype.Float8E4M3
		for _, scaling := range []kernel.Scaling{kernel.TensorWise, kernel.RowWise} {
			add(kernel.Op{Kind: kernel.ScaledMatmul, A: e4m3, B: e4m3, Out: a, Scaling: scaling})
		}
	}
	return list
}

// carriedName maps a kernel to the carried one with the same code: a kernel that moves elements
// only depends on their width.
func carriedName(n kernelName) kernelName {
	if n.program.Kind != kernel.Move && n.program.Kind != kernel.Expand {
		return n
	}
	t := []dtype.Type{1: dtype.Uint8, 2: dtype.Uint16, 4: dtype.Uint32,
		8: dtype.Uint64}[n.program.A.Width()]
	return programOf(kernel.Op{Kind: n.program.Kind, A: t, Out: t})
}

// carriedImage returns the carried PTX of a kernel for a GPU.
func (d *device) carriedImage(g *gpu, name kernelName) ([]byte, error) {
	missing := func(why string) error {
		needed := compilerNeeded()
		return &hw.Missing{What: "kernels for " + g.name, Why: why + ", and there is no NVRTC",
			Get: needed.get + ", or name it by " + needed.variable}
	}
	defines := strings.Join(carriedName(name).defines(), " ")
	ptx, there := carried().ptx[defines]
	switch {
	case g.capability < carriedTarget:
		return nil, missing(fmt.Sprintf("its compute capability is %d.%d, this program carries "+
			"kernels for %d.%d and newer", g.capability/10, g.capability%10, carriedTarget/10,
			carriedTarget%10))
	case !there:
		return nil, missing("this program does not carry the one of " + defines)
	}
	return []byte(ptx + "\x00"), nil
}

// refusedPTX adds to a driver's error that it was given carried PTX, and which driver accepts it.
func refusedPTX(err error) error {
	if e, ok := err.(*hw.Error); ok {
		made := carried().nvrtc
		e.Text += fmt.Sprintf("; it was given PTX that this program carries: a driver of CUDA %d.%d "+
			"or newer takes it, others need NVRTC (%s)", made[0], made[1], compilerNeeded().variable)
	}
	return err
}
