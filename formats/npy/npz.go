package npy

import (
	"archive/zip"
	"compress/flate"
	"io"
	"strings"

	"collsim/formats/internal/tensor"
)

// deflateRatio bounds what deflate can make of a byte: 1032 (zlib's technical details, "Maximum
// Expansion Factor").
const deflateRatio = 1032

// OpenArchive reads the directory of a zip archive of .npy files and the header of each.
func OpenArchive(r io.ReaderAt, size int64) (parts []tensor.Part, err error) {
	start := make([]byte, 8)
	n, err := r.ReadAt(start[:min(8, size)], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if err := tensor.CheckStart(tensor.NPZ, start[:n]); err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, tensor.Failed("its archive's directory cannot be read (%v); is the file "+
			"complete?", err)
	}
	names := map[string]bool{}
	left := uint64(size)
	for _, member := range archive.File {
		name, ok := strings.CutSuffix(member.Name, tensor.NPY)
		switch {
		case !ok:
			return nil, tensor.In("", member.Name,
				tensor.Failed("is no .npy; arrays alone are expected"))
		case names[name]:
			return nil, tensor.In("", name, tensor.Failed("is there twice"))
		case member.CompressedSize64 > left:
			return nil, tensor.In("", name, tensor.Failed("claims %d bytes of the archive, which "+
				"has %d more", member.CompressedSize64, left))
		}
		names[name] = true
		left -= member.CompressedSize64
		part, err := openMember(name, member)
		if err != nil {
			return nil, tensor.In("", name, zipError(err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// openMember reads the header of one array.
func openMember(name string, member *zip.File) (tensor.Part, error) {
	stored := member.Method == zip.Store
	claimed, packed := member.UncompressedSize64, member.CompressedSize64
	switch {
	case member.Flags&1 != 0:
		return tensor.Part{}, tensor.Failed("is encrypted; arrays that anybody can read are expected")
	case !stored && member.Method != zip.Deflate:
		return tensor.Part{}, tensor.Failed("is compressed by method %d; 0 (stored) or 8 "+
			"(deflated) is expected", member.Method)
	case stored && claimed != packed:
		return tensor.Part{}, tensor.Failed("claims %d bytes that are stored as %d", claimed, packed)
	case claimed/deflateRatio > packed:
		return tensor.Part{}, tensor.Failed("claims %d bytes in %d compressed ones; at most %d "+
			"times as many are possible", claimed, packed, deflateRatio)
	}
	r, err := member.Open()
	if err != nil {
		return tensor.Part{}, err
	}
	defer r.Close()
	h, err := readHeader(r, int64(claimed))
	if err != nil {
		return tensor.Part{}, err
	}
	if err := h.checkSize(int64(claimed)); err != nil {
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
	// What is stored lies in the file, byte for byte.
	return h.elements(r, member.Method == zip.Store)
}

// zipError says in words about a file what archive/zip says of a member.
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
