package main

import (
	"errors"
	"io"

	"collsim/internal/output"
	"collsim/report"
	"collsim/run"
)

// A run of many points that prints lines alone keeps no results: lines of --jsonl and of --csv are
// written when their result is done. The file of --csv is there when it is complete, as any other.

// streamed is the CSV file of such a run.
type streamed struct {
	name string
	to   *io.PipeWriter
	take func(*run.Scenario, *run.Result) error
	done chan error // what became of the file
	lost error      // the first error of a line
}

// drops reports whether results can be let go as soon as their lines are written.
func (out *outputs) drops() bool {
	o := out.flags
	if !o.jsonl || o.wantsPage() || out.pivot != nil || o.links != "" || o.flagsAlone ||
		out.executing {
		return false
	}
	for _, s := range out.scenarios {
		if len(s.Programs) > 0 || s.Output.JSON+s.Output.Links+s.Output.CSV != "" {
			return false
		}
	}
	return true
}

// newStreamed begins a CSV file.
func newStreamed(name string) *streamed {
	r, w := io.Pipe()
	s := &streamed{name: name, to: w, done: make(chan error, 1)}
	go func() {
		err := output.Write(name, func(file io.Writer) error { return pass(r, file) })
		_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // nobody reads on
		s.done <- err
	}()
	s.take, s.lost = report.CSVStream(w)
	return s
}

// pass writes what comes until its end.
func pass(from io.Reader, to io.Writer) error {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if _, lost := to.Write(buffer[:n]); lost != nil {
			return lost
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// add writes the line of a result.
func (s *streamed) add(of *run.Scenario, r *run.Result) {
	if s.lost == nil {
		s.lost = s.take(of, r)
	}
}

// end puts the file under its name.
func (s *streamed) end() error {
	_ = s.to.Close() // it has no error
	if err := <-s.done; err != nil {
		return &lostError{writeError(s.name, err)}
	}
	return nil
}

// abandon leaves no file behind, unless it is complete.
func (s *streamed) abandon() {
	if s != nil {
		_ = s.to.CloseWithError(errors.New("abandoned"))
	}
}
