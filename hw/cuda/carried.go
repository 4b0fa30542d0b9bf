package cuda

import (
	"bytes"
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
