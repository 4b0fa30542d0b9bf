package arrays

import (
	"archive/zip"
	"io"
	"strings"
)

// deflateRatio bounds what deflate can make of a byte: 1032 (zlib's technical details, "Maximum
// Expansion Factor").
const deflateRatio = 1032

// openNPZ reads the directory of a zip archive of .npy files and the header of each.
func (f *File) openNPZ(r io.ReaderAt, size int64) error {
	start := make([]byte, 8)
	n, err := r.ReadAt(start[:min(8, size)], 0)
	if err != nil && err != io.EOF {
		return err
	}
	if err := checkStart(npz, start[:n]); err != nil {
		return err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return failed("its archive's directory cannot be read (%v); is the file complete?", err)
	}
	names := map[string]bool{}
	left := uint64(size)
	for _, member := range archive.File {
		name, ok := strings.CutSuffix(member.Name, npy)
		switch {
		case !ok:
			return in("", member.Name, failed("is no .npy; arrays alone are expected"))
		case names[name]:
			return in("", name, failed("is there twice"))
		case member.CompressedSize64 > left:
			return in("", name, failed("claims %d bytes of the archive, which has %d more",
				member.CompressedSize64, left))
		}
		names[name] = true
		left -= member.CompressedSize64
		if err := f.openMember(name, member); err != nil {
			return in("", name, zipError(err))
		}
	}
	return nil
}

// openMember reads the header of one array.
func (f *File) openMember(name string, member *zip.File) error {
	stored := member.Method == zip.Store
	claimed, packed := member.UncompressedSize64, member.CompressedSize64
	switch {
	case member.Flags&1 != 0:
		return failed("is encrypted; arrays that anybody can read are expected")
	case !stored && member.Method != zip.Deflate:
		return failed("is compressed by method %d; 0 (stored) or 8 (deflated) is expected",
			member.Method)
	case stored && claimed != packed:
		return failed("claims %d bytes that are stored as %d", claimed, packed)
	case claimed/deflateRatio > packed:
		return failed("claims %d bytes in %d compressed ones; at most %d times as many are possible",
			claimed, packed, deflateRatio)
	}
	r, err := member.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	h, err := readNPYHeader(r, int64(claimed))
	if err != nil {
		return err
	}
	if err := h.checkSize(int64(claimed)); err != nil {
		return err
	}
	open := func() (io.ReadCloser, error) {
		r, err := member.Open()
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, r, h.length); err != nil {
			_ = r.Close()
			return nil, headerEnds(err)
		}
		return r, nil
	}
	h.array.Name = name
	f.arrays = append(f.arrays, h.array)
	// What is stored lies in the file, byte for byte.
	f.parts = append(f.parts, part{open: open, sure: stored, big: h.big, fortran: h.fortran})
	return nil
}
