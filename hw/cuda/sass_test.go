package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/kernel"
)

// disassembler is NVIDIA's nvdisasm. Where there is none, the test is skipped.
func disassembler(t *testing.T) string {
	t.Helper()
	path := os.Getenv("COLLSIM_NVDISASM")
	if path == "" {
		path = "nvdisasm"
	}
	path, err := exec.LookPath(path)
	if err != nil {
		t.Skipf("%v: COLLSIM_NVDISASM names none (pip install --target DIR nvidia-cuda-nvdisasm)", err)
	}
	return path
}

// What is looked at in machine code: where a subroutine begins, of which line of the source
// instructions are, and instructions.
var (
	sassLabel       = regexp.MustCompile(`^(\$\S+|\.text\.\S+):\s*$`)
	sassLine        = regexp.MustCompile(`//## File "[^"]*", line (\d+)`)
	sassInstruction = regexp.MustCompile(`^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+ +)?([A-Z][\w.]*)([^;]*);`)
	sassFused       = regexp.MustCompile(`^[A-Z]*(FMA|MMA)`)
	sassRounds      = regexp.MustCompile(`^([FDH](ADD|MUL|FMA)|F2F)`)
	// A division is a subroutine of the compiler's, or instructions of a line that divides: it is
	// rounded once as a whole, by way of fused steps and conversions of its own.
	divides = regexp.MustCompile(`__ddiv_rn| [/%] `)
)

// machineCode is what the instructions of kernels that decide bits are: those that round otherwise
// than once, to nearest, keeping subnormal numbers; and the lines of the source that add, and those
// that multiply.
type machineCode struct {
	harmful     []string
	adds, times map[string]bool
}

// looked is what nvdisasm shows of kernels of a source.
func looked(listing, source string) machineCode {
	lines := append([]string{""}, strings.Split(source, "\n")...)
	m := machineCode{adds: map[string]bool{}, times: map[string]bool{}}
	function, line := "", 0
	for text := range strings.Lines(listing) {
		if label := sassLabel.FindStringSubmatch(text); label != nil {
			function = label[1]
		}
		if number := sassLine.FindStringSubmatch(text); number != nil {
			line, _ = strconv.Atoi(number[1])
		}
		found := sassInstruction.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		name, operands := found[1], found[2]
		isDivision := strings.Contains(function, "$__cuda_sm20_div_") || divides.MatchString(lines[line])
		// By −0·0 plus a constant a register is set.
		isMove := strings.HasPrefix(name, "HFMA2") && strings.Contains(operands, ", -RZ, RZ, ")
		_, modes, _ := strings.Cut(name, ".")
		otherwise := slices.ContainsFunc(strings.Split(modes, "."), func(mode string) bool {
			return slices.Contains([]string{"FTZ", "RZ", "RM", "RP", "SAT"}, mode)
		})
		switch {
		case isDivision || isMove:
		case sassFused.MatchString(name) || sassRounds.MatchString(name) && otherwise:
			m.harmful = append(m.harmful, fmt.Sprintf("%s: %s%s of %q", function, name, operands,
				strings.TrimSpace(lines[line])))
		case strings.HasPrefix(name, "FADD"), strings.HasPrefix(name, "DADD"):
			m.adds[lines[line]] = true
		case strings.HasPrefix(name, "FMUL"), strings.HasPrefix(name, "DMUL"):
			m.times[lines[line]] = true
		}
	}
	return m
}

// disassembled compiles a source for a GPU and looks at its machine code.
func disassembled(t *testing.T, d *device, source string, options ...string) machineCode {
	t.Helper()
	image, err := d.compiled(source, append(options, "--generate-line-info"), "CUBIN")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kernels.cubin")
	require.NoError(t, os.WriteFile(path, image, 0o600))
	listing, err := exec.Command(disassembler(t), "--print-code", "--print-line-info",
		path).CombinedOutput()
	require.NoError(t, err, string(listing))
	m := looked(string(listing), source)
	require.Regexp(t, `\bEXIT\b`, string(listing))
	return m
}

// contains reports whether a line of the source with this text is among some.
func contains(lines map[string]bool, text string) bool {
	for line := range lines {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// TestSASS: in the machine code for GPUs from Turing to Blackwell nothing is fused or flushed, and
// every sum and product that the source rounds is an instruction of its own. What is fused on
// purpose is found.
func TestSASS(t *testing.T) {
	disassembler(t)
	d := nvrtc(t)
	names := carriedNames()
	type class struct {
		kind   kernel.Kind
		floats bool
		a      int
	}
	classes := map[class]bool{}
	for _, o := range someOps(t) { // of each kind, integers and each width of floats
		c := class{kind: o.Kind, floats: o.A.IsFloat()}
		if c.floats {
			c.a = o.A.Width()
		}
		if !classes[c] {
			classes[c] = true
			names = append(names, programOf(o))
		}
	}
	// All 424 take two minutes. The long tier looks at each kernel for one GPU.
	every, met := tier.Of(24, 4), map[string]bool{}
	for shift, target := range []string{"75", "80", "90", "100"} {
		for i, name := range names {
			id := strings.Join(append(name.defines(), target), " ")
			if met[id] || i%every != shift {
				continue
			}
			met[id] = true
			m := disassembled(t, d, name.source(), name.options("sm_"+target)...)
			require.Empty(t, m.harmful, id)
			o, is := name.program, ""
			switch {
			case o.Kind == 0 && name.of == dtype.Float64:
				is = "d"
			case o.Kind == 0 && name.of.IsFloat() && (name.wide || name.of.Width() > 1),
				o.IsMatmul() && o.A.IsFloat() && o.A != dtype.Float64 && o.B != dtype.Float64:
				is = "f"
			}
			if is != "" {
				require.True(t, contains(m.adds, "__"+is+"add_rn("), id)
				require.True(t, contains(m.times, "__"+is+"mul_rn("), id)
			}
		}
	}
	t.Logf("%d kernels", len(met))
	require.Greater(t, len(met), 4*tier.Of(3, 20))

	o, err := kernel.Parse("matmul m=1 k=1 n=1 float32*float32->float32")
	require.NoError(t, err)
	plain := programOf(o)
	options := plain.options("sm_90")
	require.Empty(t, disassembled(t, d, plain.source(), options...).harmful)
	careless := strings.NewReplacer("__fadd_rn(x, y)", "x + y", "__fmul_rn(x, y)", "x * y")
	options[slices.Index(options, "--fmad=false")] = "--fmad=true"
	require.Regexp(t, "FFMA .*x [+*] y",
		strings.Join(disassembled(t, d, careless.Replace(plain.source()), options...).harmful, "\n"))
	options[slices.Index(options, "--ftz=false")] = "--ftz=true"
	require.Regexp(t, `FADD\.FTZ|FFMA\.FTZ`,
		strings.Join(disassembled(t, d, careless.Replace(plain.source()), options...).harmful, "\n"))
}
