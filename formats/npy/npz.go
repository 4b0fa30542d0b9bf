package npy

import (
	"archive/zip"
	"compress/flate"
	"io"
	"strings"

	"collsim/formats/internal/tensor"
	"collsim/internal/input"
)

// deflateRatio is the most bytes that deflate can expand a byte to: 1032 (zlib's technical details,
// "Maximum Expansion Factor").
const deflateRatio = 1032

// OpenArchive reads the directory of a zip archive of .npy files and the header of each.
func OpenArchive(r io.ReaderAt, size int64, limit input.Limit) (parts []tensor.Part, err error) {
	start := make([]byte, 8)
	n, err := r.ReadAt(start[:min(8, size)], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if err := tensor.CheckStart(tensor.NPZ, start[:n]); err != nil {
		return nil, err
	}
	near := &window{r: r, ahead: make([]byte, 1<<16)}
	archive, err := input.Archive(near, size)
	if err != nil {
		return nil, tensor.Failed("its archive's directory cannot be read (%v); is the file "+
			"complete?", err)
	}
	if err := judge(archive.File, size, limit); err != nil {
		return nil, err
	}
	var known headers
	parts = make([]tensor.Part, len(archive.File))
	for i, member := range archive.File {
		name := strings.TrimSuffix(member.Name, tensor.NPY)
		if parts[i], err = known.open(name, member); err != nil {
			return nil, tensor.In("", name, zipError(err))
		}
	}
	near.ahead = nil // several goroutines read elements, at any place
	return parts, nil
}

// judge refuses an archive whose directory is not plausible for size bytes, before anything is
// unpacked. It also refuses members that exceed the limit together.
func judge(members []*zip.File, size int64, limit input.Limit) error {
	names := make(map[string]bool, len(members))
	left, total := uint64(size), uint64(0)
	for _, member := range members {
		name, ok := strings.CutSuffix(member.Name, tensor.NPY)
		packed := member.CompressedSize64
		switch {
		case !ok:
			return tensor.In("", member.Name, tensor.Failed("is no .npy; arrays alone are expected"))
		case names[name]:
			return tensor.In("", name, tensor.Failed("is there twice"))
		case packed > left:
			return tensor.In("", name, tensor.Failed("claims %d bytes of the archive, which has %d more",
				packed, left))
		}
		if err := judgeMember(member); err != nil {
			return tensor.In("", name, err)
		}
		names[name] = true
		left -= packed
		total += member.UncompressedSize64 // at most deflateRatio times the file
	}
	if err := limit.Allows(total); err != nil {
		long := err.(*input.LongError)
		return tensor.Failed("%v; %s", long, long.Hint())
	}
	return nil
}

// judgeMember refuses a member whose directory entry is not plausible.
func judgeMember(member *zip.File) error {
	stored := member.Method == zip.Store
	claimed, packed := member.UncompressedSize64, member.CompressedSize64
	switch {
	case member.Flags&1 != 0:
		return tensor.Failed("is encrypted; arrays that anybody can read are expected")
	case !stored && member.Method != zip.Deflate:
		return tensor.Failed("is compressed by method %d; 0 (stored) or 8 (deflated) is expected",
			member.Method)
	case stored && claimed != packed:
		return tensor.Failed("claims %d bytes that are stored as %d", claimed, packed)
	case claimed/deflateRatio > packed:
		return tensor.Failed("claims %d bytes in %d compressed ones; at most %d times as many are "+
			"possible", claimed, packed, deflateRatio)
	}
	return nil
}

// window reads ahead, so that a million small members take few system calls.
type window struct {
	r     io.ReaderAt
	ahead []byte // nil: read directly from r
	from  int64  // offset of ahead
	have  int
}

// ReadAt implements io.ReaderAt.
func (w *window) ReadAt(p []byte, at int64) (int, error) {
	if len(p) > len(w.ahead)/4 {
		return w.r.ReadAt(p, at)
	}
	if at < w.from || at+int64(len(p)) > w.from+int64(w.have) {
		n, err := w.r.ReadAt(w.ahead, at)
		if w.from, w.have = at, n; n < len(p) {
			return copy(p, w.ahead[:n]), err
		}
	}
	return copy(p, w.ahead[at-w.from:w.have]), nil
}

// headers parses the headers of members with a cache, since most equal the one before.
type headers struct {
	text string
	last header
}

func (k *headers) parse(text []byte) (header, error) {
	if len(text) > 0 && string(text) == k.text {
		return k.last, nil
	}
	h, err := parseHeader(string(text))
	if err == nil {
		k.text, k.last = string(text), h
	}
	return h, err
}

// open reads the header of one array.
func (k *headers) open(name string, member *zip.File) (tensor.Part, error) {
	r, err := member.Open()
	if err != nil {
		return tensor.Part{}, err
	}
	defer r.Close()
	claimed := int64(member.UncompressedSize64)
	h, err := readHeader(r, claimed, k.parse)
	if err != nil {
		return tensor.Part{}, err
	}
	if err := h.checkSize(claimed); err != nil {
		return tensor.Part{}, err
	}
	h.array.Name = name
	return tensor.Part{Array: h.array, Read: func() ([]byte, error) {
		data, err := h.member(member)
		return data, zipError(err)
	}}, nil
}

// member reads the elements of a member of an archive.
func (h *header) member(member *zip.File) ([]byte, error) {
	r, err := member.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, h.length); err != nil {
		return nil, headerEnds(err)
	}
	// A stored member is in the file byte for byte, so its size is certain.
	return h.elements(r, member.Method == zip.Store)
}

// zipError rewords errors of archive/zip about a member.
func zipError(err error) error {
	if damage, ok := err.(flate.CorruptInputError); ok {
		return tensor.Failed("its compressed bytes are damaged (%v)", damage)
	}
	switch err {
	case zip.ErrChecksum:
		return tensor.Failed("its checksum is not that of the archive's directory")
	case zip.ErrFormat:
		return tensor.Failed("the archive's directory points to what is no member")
	}
	return err
}
