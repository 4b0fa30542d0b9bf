package gate

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// Service is what a connection is for.
type Service uint8

// The services.
const (
	Coordination Service = 1 + iota // between a worker and its coordinator
	Data                            // between two ranks
)

// Claim is what who dials says of itself. It is believed when it is proven.
type Claim struct {
	Service Service
	From    int32 // the worker or rank that dials
	To      int32 // the rank that it wants; −1 is the coordinator
}

// What goes over the wire, byte for byte.
const (
	greeting     = "collsim1" // with the version
	nonceSize    = 32
	claimSize    = len(greeting) + 1 + 4 + 4 + nonceSize
	answerSize   = len(Run{}) + nonceSize
	proofSize    = sha256.Size
	welcomeByte  = 'w'
	unwantedByte = 'u' // in place of a welcome, to who has proven that it knows the secret
)

// Why a handshake ends.
var (
	// ErrStranger is of who does not know the secret.
	ErrStranger = errors.New("it does not know the secret of this run")
	// ErrTurnedAway is of who speaks another protocol, or claims what is not expected.
	ErrTurnedAway = errors.New("it was not expected")
	// ErrUnwanted is of a worker that knows the secret, and that nobody waits for.
	ErrUnwanted = errors.New("nobody waits for it there, or another has come in its place")
	// ErrNoSecret is of a side that has none: it lets nobody in.
	ErrNoSecret = errors.New("there is no secret")
)

// role is whose proof it is.
type role string

const (
	dialer   role = "collsim: who dials"
	acceptor role = "collsim: who accepts"
)

// prove is the proof of a role, on what both have said.
func prove(key []byte, r role, said []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte{byte(len(r))})
	h.Write([]byte(r))
	h.Write(said)
	return h.Sum(nil)
}

func nonce() []byte {
	n := make([]byte, nonceSize)
	rand.Read(n)
	return n
}

func (c *Claim) append(b []byte) []byte {
	b = append(append(b, greeting...), byte(c.Service))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.From))
	return binary.LittleEndian.AppendUint32(b, uint32(c.To))
}

// parseClaim reads a claim; false if it is none.
func parseClaim(b []byte) (c Claim, ok bool) {
	if string(b[:len(greeting)]) != greeting {
		return c, false
	}
	b = b[len(greeting):]
	return Claim{Service(b[0]), int32(binary.LittleEndian.Uint32(b[1:])),
		int32(binary.LittleEndian.Uint32(b[5:]))}, true
}

// Enter proves to who has accepted a connection that this side knows the secret, and has that side
// prove it first. It returns the run. The caller sets a deadline.
func Enter(conn net.Conn, s Secret, c Claim) (Run, error) {
	if s.None() {
		return Run{}, ErrNoSecret
	}
	said := append(c.append(make([]byte, 0, claimSize+answerSize)), nonce()...)
	if _, err := conn.Write(said); err != nil {
		return Run{}, err
	}
	var answer [answerSize + proofSize]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return Run{}, err
	}
	said = append(said, answer[:answerSize]...)
	run := Run(answer[:len(Run{})])
	key := s.key(run)
	if !hmac.Equal(answer[answerSize:], prove(key, acceptor, said)) {
		return Run{}, ErrStranger
	}
	if _, err := conn.Write(prove(key, dialer, said)); err != nil {
		return Run{}, err
	}
	var welcome [1]byte
	if _, err := io.ReadFull(conn, welcome[:]); err != nil {
		return Run{}, err
	}
	switch welcome[0] {
	case welcomeByte:
		return run, nil
	case unwantedByte:
		return Run{}, ErrUnwanted
	}
	return Run{}, ErrTurnedAway
}

// Admit has who has dialed prove that it knows the secret of a run, and what it claims, if that is
// expected. The caller sets a deadline.
func Admit(conn net.Conn, s Secret, run Run, expected func(Claim) bool) (c Claim, err error) {
	if s.None() {
		return c, ErrNoSecret
	}
	said := make([]byte, claimSize, claimSize+answerSize)
	if _, err := io.ReadFull(conn, said[:len(greeting)]); err != nil {
		return c, err
	}
	if string(said[:len(greeting)]) != greeting { // who speaks another protocol may say no more
		return c, ErrTurnedAway
	}
	if _, err := io.ReadFull(conn, said[len(greeting):]); err != nil {
		return c, err
	}
	c, ok := parseClaim(said)
	wanted := ok && expected(c)
	// A rank may be dialed before it expects that, and is dialed again: it says nothing.
	if !wanted && (!ok || c.Service != Coordination) {
		return c, ErrTurnedAway
	}
	said = append(append(said, run[:]...), nonce()...)
	key := s.key(run)
	answer := append(append([]byte{}, said[claimSize:]...), prove(key, acceptor, said)...)
	if _, err := conn.Write(answer); err != nil {
		return c, err
	}
	var proof [proofSize]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return c, err
	}
	if !hmac.Equal(proof[:], prove(key, dialer, said)) {
		return c, ErrStranger
	}
	if !wanted {
		if _, err := conn.Write([]byte{unwantedByte}); err != nil {
			return c, err
		}
		return c, ErrUnwanted
	}
	_, err = conn.Write([]byte{welcomeByte})
	return c, err
}
