package chakra

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"collsim/formats/internal/wire"
)

// The wire types of the fields of each message, by number; see wire.Each.
const (
	metadataFields = ".22"
	nodeFields     = ".020pp002222"
	// name, doc_string, then the 30 types of a value: one, a list of them, and so on.
	attrFields = ".22" + "1252020202020202" + "52125212" + "02" + "22" + "22"
)

// readProto reads the protobuf form.
func (r *reader) readProto(in *bufio.Reader) error {
	var message bytes.Buffer
	for n := 0; ; n++ {
		err := nextMessage(in, &message)
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return r.fail("the file is empty")
			}
			return nil
		}
		if err == nil && n == 0 {
			err = readMetadata(message.Bytes())
		} else if err == nil {
			err = r.readNode(message.Bytes())
		}
		if err != nil {
			return r.fail("message %d: %v", n, err)
		}
	}
}

// readMetadata checks the GlobalMetadata; none of its fields is used.
func readMetadata(b []byte) error {
	err := wire.Each(b, metadataFields, func(x wire.Field) error {
		if x.Number == 2 {
			_, err := readAttr(x.Bytes)
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("no GlobalMetadata of a Chakra trace: %w", err)
	}
	return nil
}

// readNode adds a Node.
func (r *reader) readNode(b []byte) error {
	n := node{cpu: true}
	err := wire.Each(b, nodeFields, func(x wire.Field) (err error) {
		switch x.Number {
		case 1:
			n.id = x.Value
		case 2:
			n.setName(string(x.Bytes[:min(len(x.Bytes), maxName+4)]))
		case 3:
			n.kind = nodeType(x.Value)
		case 4:
			n.ctrl, err = x.Numbers(n.ctrl)
		case 5:
			n.data, err = x.Numbers(n.data)
		case 6:
			n.start = x.Value
		case 7:
			n.micros = x.Value
		case 10:
			var a attr
			if a, err = readAttr(x.Bytes); err == nil {
				err = n.set(a)
			}
		}
		return err
	})
	if err == nil {
		err = n.check()
	}
	if err != nil {
		return fmt.Errorf("%v: %w", &n, err)
	}
	return r.take(n)
}

// attr is an AttributeProto: its name, and its value if that is a number or a string.
type attr struct {
	name   string
	number int64
	text   string
	field  int // of the value, 0 for none
}

func readAttr(b []byte) (a attr, err error) {
	err = wire.Each(b, attrFields, func(x wire.Field) error {
		switch x.Number {
		case 1:
			a.name = string(x.Bytes)
		case 2:
		default:
			a.field = x.Number
			switch x.Number {
			case 15, 17: // zigzag
				a.number = int64(x.Value>>1) ^ -int64(x.Value&1)
			case 23: // signed, 32 bits
				a.number = int64(int32(x.Value))
			case 29:
				a.text = string(x.Bytes)
			default:
				a.number = int64(x.Value)
			}
		}
		return nil
	})
	return a, err
}

// whole reports whether the value is a whole number; the schema has ten types of these.
func (a *attr) whole() bool {
	return slices.Contains([]int{7, 9, 11, 13, 15, 17, 19, 21, 23, 25}, a.field)
}

// set stores an attribute in the node. It ignores unknown names, which frameworks write for their
// own use.
func (n *node) set(a attr) error {
	switch a.name {
	case "is_cpu_op":
		if a.field != 27 && !a.whole() {
			return fmt.Errorf("is_cpu_op is not a bool")
		}
		n.cpu = a.number != 0
		return nil
	case "num_ops":
		n.counted = a.number != 0
		return nil
	case "pg_name":
		if a.field != 29 {
			return fmt.Errorf("pg_name is not a string")
		}
		n.group = a.text
		return nil
	}
	i := slices.Index(attrNames[:], a.name)
	switch {
	case i < 0:
		return nil
	case !a.whole():
		return fmt.Errorf("%s is not a whole number", a.name)
	case n.given[i]:
		return fmt.Errorf("%s is given twice", a.name)
	}
	n.attrs[i], n.given[i] = a.number, true
	return nil
}
