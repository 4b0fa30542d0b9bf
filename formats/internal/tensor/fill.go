package tensor

import "io"

// FirstMemory is the memory that is allocated for elements before any have arrived: 1 MiB.
const FirstMemory = 1 << 20

// Fill reads size bytes. Unless the size is sure, memory doubles as they arrive, so that a false
// header cannot exhaust it. The reader must end after them: only then has an archive checked their
// checksum.
func Fill(r io.Reader, size int64, sure bool) ([]byte, error) {
	room := size
	if !sure {
		room = min(size, FirstMemory)
	}
	buf := make([]byte, room)
	for have := int64(0); ; {
		n, err := io.ReadFull(r, buf[have:])
		have += int64(n)
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil, Failed("ends after %d of the %s that its shape needs",
				have, BytesText(size))
		case err != nil:
			return nil, err
		case have < size:
			bigger := make([]byte, min(size, 2*have))
			copy(bigger, buf)
			buf = bigger
			continue
		}
		switch n, err := io.ReadFull(r, make([]byte, 1)); {
		case n > 0:
			return nil, Failed("goes on after the %s that its shape needs", BytesText(size))
		case err != io.EOF:
			return nil, err
		}
		return buf, nil
	}
}
