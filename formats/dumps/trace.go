package dumps

import (
	"bytes"

	"collsim/formats/chakra"
)

// isTrace recognises a trace of PyTorch's profiler or of Chakra.
func isTrace(text []byte) bool {
	return isObject("traceEvents", "schemaVersion", "deviceProperties", "workload_graph")(text)
}

// traceReader reads a trace of a file a rank. Its calls are as its kernels began; what orders those
// of several groups is for verify.
type traceReader struct {
	*builder
	files []chakra.Input
}

func newTraceReader(b *builder) reader { return &traceReader{builder: b} }

func (r *traceReader) read(f file) error {
	if r.builder.files == 1 {
		f.rank = max(f.rank, 0)
	}
	if _, err := r.own(f); err != nil {
		return err
	}
	r.files = append(r.files, chakra.Input{Name: f.name, Reader: bytes.NewReader(f.text)})
	return nil
}

func (r *traceReader) end() error {
	log, err := chakra.Calls(r.files)
	if err != nil {
		return &ParseError{Text: err.Error()}
	}
	r.Log = *log
	for i := range r.Ranks {
		for j := range r.Ranks[i].Calls {
			c := &r.Ranks[i].Calls[j]
			c.Type = typeOf(c.Type)
		}
	}
	return nil
}
