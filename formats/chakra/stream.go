package chakra

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxMessage is the most bytes of a message.
const maxMessage = 64 << 20

// nextMessage reads a message with its length before it; io.EOF at the end of the file.
func nextMessage(in *bufio.Reader, into *bytes.Buffer) error {
	if _, err := in.Peek(1); err != nil {
		return err
	}
	n, err := binary.ReadUvarint(in)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends in a message's length")
	case err != nil:
		return err
	case n > maxMessage:
		return fmt.Errorf("a message of %d bytes; at most %d are possible", n, maxMessage)
	}
	into.Reset()
	if m, err := io.CopyN(into, in, int64(n)); errors.Is(err, io.EOF) {
		return fmt.Errorf("a message of %d bytes, but the file ends after %d of them", n, m)
	} else if err != nil {
		return err
	}
	return nil
}
