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

// packed are kernels that this program carries for machines without NVRTC: PTX, which the driver
// compiles for its GPU. NVRTC has made them of the sources beside it, by
//
//	COLLSIM_PTX_NVRTC=…/libnvrtc.so.12 go test ./hw/cuda -run TestCarried -update
//
// of an early release, since a driver takes the PTX of its own time and before.
//
//go:embed carried.ptx.gz
var packed []byte

// carriedTarget is the oldest GPU that carried kernels run on: Turing. They run on all that came
// after it.
const carriedTarget = 75

// How a list of carried kernels begins, and each of them.
const (
	listOf = "// collsim NVRTC %d.%d sources %s\n"
	oneOf  = "//= "
)

// carriedKernels are kernels in PTX by their options (kernelName.defines), and which NVRTC has made
// them of which sources.
type carriedKernels struct {
	nvrtc   [2]int32
	sources string
	ptx     map[string]string
}

// carried unpacks what the program carries. That it is what is expected is tested.
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

// sourcesSum tells the sources of kernels from others.
func sourcesSum() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(numbers+steps+programs)))
}

// stepNames are all kernels of steps: of each type, and of those that are computed in float32 where
// that is asked for.
func stepNames() (list []kernelName) {
	for _, t := range dtype.All() {
		list = append(list, kernelName{of: t})
		if widens(t) {
			list = append(list, kernelName{of: t, wide: true})
		}
	}
	return list
}

// carriedNames are the kernels that are carried: those of steps, and of programs those in floats of
// 16 and 32 bits, products of 8 bits among them.
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

// carriedName is a kernel as one that is carried: what moves elements asks for their width alone.
func carriedName(n kernelName) kernelName {
	if n.program.Kind != kernel.Move && n.program.Kind != kernel.Expand {
		return n
	}
	t := []dtype.Type{1: dtype.Uint8, 2: dtype.Uint16, 4: dtype.Uint32,
		8: dtype.Uint64}[n.program.A.Width()]
	return programOf(kernel.Op{Kind: n.program.Kind, A: t, Out: t})
}

// carriedImage is PTX of kernels for a GPU, from among those that are carried.
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

// refusedPTX says of the driver's error what it was given.
func refusedPTX(err error) error {
	if e, ok := err.(*hw.Error); ok {
		made := carried().nvrtc
		e.Text += fmt.Sprintf("; it was given PTX that this program carries: a driver of CUDA %d.%d "+
			"or newer takes it, others need NVRTC (%s)", made[0], made[1], compilerNeeded().variable)
	}
	return err
}
