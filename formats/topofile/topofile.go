// Package topofile reads a file that describes one machine. It recognises the kind by the content.
// It is a topology file of NCCL or RCCL (ncclxml), the output of nvidia-smi topo -m (topom) or of
// AMD's tools (rocmtopo), or a machine's own file. Any other file is refused, with its kind named
// if it is known.
package topofile

import (
	"bytes"
	"encoding/binary"
	"path"
	"regexp"
	"strings"
	"unicode/utf16"

	"collsim/formats/ncclxml"
	"collsim/formats/rocmtopo"
	"collsim/formats/system"
	"collsim/formats/topom"
	"collsim/machine"
)

// maxBytes bounds a file of XML, or of UTF-16 that becomes as long; maxText bounds any other file.
const (
	maxBytes = 32 << 20
	maxText  = 4 << 20
)

// Read reads a machine. name is that of the file, for errors; device is the GPU that device.preset
// names, or empty. Errors name the file, and the line where there is one.
func Read(name string, data []byte, device string) (*machine.Machine, error) {
	wrong := func(format string, args ...any) error {
		return system.Errorf(name, 0, format, args...)
	}
	if len(data) > maxBytes {
		return nil, wrong("has %d bytes; a file of a machine has at most %d", len(data), maxBytes)
	}
	text := unescaped(decoded(data))
	switch trimmed := strings.TrimSpace(unfenced(text)); {
	case trimmed == "":
		return nil, wrong("is empty; %s", expected)
	case strings.HasPrefix(trimmed, "<"):
		return ncclxml.Read(name, []byte(unfenced(text)), device)
	case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, "%!PS"):
		return nil, wrong("%s", expected)
	case len(text) > maxText:
		return nil, wrong("has %d bytes; at most %d of text are expected", len(text), maxText)
	}
	switch {
	case isTOML().MatchString(text), strings.HasSuffix(strings.ToLower(name), ".toml"):
		m, err := machine.Read(name, []byte(text))
		if err == nil {
			m.Name = strings.TrimSuffix(name, path.Ext(name))
		}
		return m, err
	case rocmtopo.Is(text):
		return rocmtopo.Read(name, []byte(text), device)
	case topom.Is(text):
		return topom.Read(name, []byte(text), device)
	case measured().MatchString(text):
		return nil, wrong("%s", "is a matrix of measured rates or latencies (nvbandwidth, "+
			"p2pBandwidthLatencyTest); it does not say what joins the GPUs. nvidia-smi topo -m does")
	}
	return nil, wrong("%s", expected)
}

// expected lists the supported kinds of file.
const expected = "a topology file of NCCL or RCCL (XML), the output of nvidia-smi topo -m or " +
	"rocm-smi --showtopo, or a machine's TOML is expected"

// measured matches the headings of programs that measure bandwidths of GPUs.
func measured() *regexp.Regexp {
	return regexp.MustCompile(`(?i)memcpy .*\((row|column)\)|bandwidth matrix|latency matrix|` +
		`bandwidth \(GB/s\)|\bD\\D\b|p2p=(enabled|disabled)|\bGPU\\GPU\b`)
}

// isTOML matches a file of keys.
func isTOML() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\A\s*(#.*\n\s*)*[A-Za-z_][\w.-]*\s*=\s*["{\[\d]`)
}

// decoded converts a text in UTF-16, which PowerShell writes, to UTF-8.
func decoded(data []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	}
	data = data[2:]
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}

// unescaped replaces the escapes of a matrix that was copied as a string from a log or a program.
func unescaped(text string) string {
	if !strings.Contains(text, `\tGPU`) {
		return text
	}
	return strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(text)
}

// unfenced removes the fences of Markdown around a text. Lines keep their numbers.
func unfenced(text string) string {
	if !strings.HasPrefix(strings.TrimSpace(text), "```") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
