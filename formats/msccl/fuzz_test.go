package msccl_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/internal/foreign"
	"collsim/formats/msccl"
	"collsim/proof"
)

// scriptFiles are the files in the scripts of testdata.
func scriptFiles(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	var files []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, part := range strings.Split(string(text), "\n<algo ")[1:] {
			file, _, _ := strings.Cut(part, "\n----")
			files = append(files, "<algo "+file)
		}
	}
	return files
}

// FuzzRead: no input makes the reader, the proof or the writer panic or run on; what is wrong is a
// *foreign.Error. What is proven and can be written is proven when read back.
func FuzzRead(f *testing.F) {
	for _, file := range scriptFiles(f) {
		f.Add([]byte(file), false)
		f.Add([]byte(file), true)
	}
	f.Fuzz(func(t *testing.T, file []byte, rccl bool) {
		holds(t, file, rccl)
	})
}

// FuzzEdits is FuzzRead on files that are well formed: two bytes of edits at a time change the
// value of an attribute, counted on from the last, to a small number, a type, a buffer or a label.
func FuzzEdits(f *testing.F) {
	files := scriptFiles(f)
	for i := range files {
		f.Add(uint8(i), false, []byte{0, 0})
	}
	values := strings.Fields("nop s r cpy re rcs rrs rrc rrcs i o s allreduce allgather custom " +
		"reduce_scatter alltoall broadcast reduce gather scatter Simple LL LL128 -1 0 1 2 3 4 5 6 8 " +
		"9 12 64 71 72 256 4096 1048576")
	f.Fuzz(func(t *testing.T, which uint8, rccl bool, edits []byte) {
		parts := strings.Split(files[int(which)%len(files)], `"`) // every second one is a value
		at := 0
		for ; len(edits) > 1; edits = edits[2:] {
			at = (at + int(edits[0])) % (len(parts) / 2)
			parts[2*at+1] = values[int(edits[1])%len(values)]
		}
		holds(t, []byte(strings.Join(parts, `"`)), rccl)
	})
}

// holds is what must hold of any file.
func holds(t *testing.T, file []byte, rccl bool) {
	o := foreign.Options{File: "f"}
	if rccl {
		o.Runtime, o.Protocol = "rccl", "LL"
	}
	read, err := msccl.Read(bytes.NewReader(file), o)
	if err != nil {
		var wrong *foreign.Error
		require.True(t, errors.As(err, &wrong), "%v", err)
		return
	}
	s := read.Schedule
	steps := 0
	for rank := range s.Spec.Ranks {
		for lane := range s.Program(rank).Lanes() {
			for c := s.Program(rank).Walk(lane); !c.Done() && steps < 2000; c.Next(1) {
				steps++
			}
		}
	}
	if steps >= 2000 || s.Spec.Ranks > 64 {
		return
	}
	proven, found := proof.Verify(s, proof.Options{Iterations: 1})
	for _, v := range append(read.Found, found...) {
		_ = read.Where(v.Rank, v.Lane, v.Step).String() + v.Error()
	}
	if len(found)+len(read.Found) > 0 {
		return
	}
	var again bytes.Buffer
	how := msccl.WriteOptions{Runtime: "none", Protocol: "LL", Prove: prove}
	if _, err := msccl.Write(&again, s, how); err != nil {
		return
	}
	back, err := msccl.Read(&again, foreign.Options{Runtime: "none", Root: s.Spec.Root,
		Count: max(s.Spec.Count, largest(s))})
	require.NoError(t, err)
	same, found := proof.Verify(back.Schedule, proof.Options{Iterations: 1})
	require.Empty(t, found)
	require.Equal(t, proven.BytesSent, same.BytesSent)
}
