package measured

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// eachValue calls a function for each value of JSON that follows another, with its line; a list
// counts as its elements. What the function refuses is left out, and all from where the text is no
// JSON, which should be of this form.
func (r *reading) eachValue(text []byte, form string, each func(line int, value []byte) error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	d := json.NewDecoder(bytes.NewReader(text))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		_, _ = d.Token() // the bracket
	}
	line, at := 1, int64(0)
	for d.More() {
		var value json.RawMessage
		err := d.Decode(&value)
		start := d.InputOffset() - int64(len(value))
		if err != nil {
			start = min(int64(len(text)), d.InputOffset()+1)
		}
		line += bytes.Count(text[at:start], []byte("\n"))
		at = start
		if err != nil {
			r.refuse(r.problem(line, "", "", notJSON(err)+"; "+form+" is expected"))
			return
		}
		if err := each(line, value); err != nil {
			r.refuse(r.problem(line, "", "", whyNot(err)))
		}
	}
}

// notJSON says why a text is no JSON.
func notJSON(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the text ends within a value"
	}
	return err.Error()
}
