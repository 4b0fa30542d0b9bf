package dumps

import (
	"bytes"

	"collsim/formats/chakra"
)

// isTrace recognises a trace of PyTorch's profiler or of Chakra.
func isTrace(text []byte) bool {
	return isObject("traceEvents", "schemaVersion", "deviceProperties", "workload_graph")(text)
}

// readTraces reads a trace of a file a rank. Its calls are as its kernels began; what orders those
// of several groups is for verify.
func readTraces(b *builder, files []File) error {
	var inputs []chakra.Input
	for _, f := range files {
		if len(files) == 1 {
			f.Rank = max(f.Rank, 0)
		}
		if _, err := b.own(f); err != nil {
			return err
		}
		inputs = append(inputs, chakra.Input{Name: f.Name, Reader: bytes.NewReader(f.Text)})
	}
	log, err := chakra.Calls(inputs)
	if err != nil {
		return &ParseError{Text: err.Error()}
	}
	b.Log = *log
	for i := range b.Ranks {
		for j := range b.Ranks[i].Calls {
			c := &b.Ranks[i].Calls[j]
			c.Type = typeOf(c.Type)
		}
	}
	return nil
}
