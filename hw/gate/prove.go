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

// A Service is the purpose of a connection.
type Service uint8

// The services.
const (
	Coordination Service = 1 + iota // between a worker and its coordinator
	Data                            // between two ranks
)

// A Claim is what a dialer says of itself. It is trusted once it is proven.
type Claim struct {
	Service Service
	From    int32 // the worker or rank that dials
	To      int32 // the rank that it wants; −1 for the coordinator
}

// The handshake's format on the wire.
const (
	greeting     = "collsim1" // includes the version
	nonceSize    = 32
	claimSize    = len(greeting) + 1 + 4 + 4 + nonceSize
	answerSize   = len(Run{}) + nonceSize
	proofSize    = sha256.Size
	welcomeByte  = 'w'
	unwantedByte = 'u' // instead of a welcome, for an unwanted peer with the secret
)

// Reasons why a handshake ends.
var (
	// ErrStranger: the peer does not know the secret.
	ErrStranger = errors.New("it does not know the secret of this run")
	// ErrTurnedAway: the peer speaks another protocol, or its claim is not expected.
	ErrTurnedAway = errors.New("it was not expected")
	// ErrUnwanted: the worker knows the secret, but it is not expected (any more).
	ErrUnwanted = errors.New("nobody waits for it there, or another has come in its place")
	// ErrNoSecret: this side has no secret, so it admits no peer.
	ErrNoSecret = errors.New("there is no secret")
)

// A role is the side of a prover.
type role string

const (
	dialer   role = "collsim: who dials"
	acceptor role = "collsim: who accepts"
)

// prove returns the proof of a role over the handshake so far.
func prove(key []byte, r role, said []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte{byte(len(r))})
	h.Write([]byte(r))
	h.Write(said)
	return h.Sum(nil)
}

// nonce returns fresh random bytes.
func nonce() []byte {
	n := make([]byte, nonceSize)
	rand.Read(n)
	return n
}

// append encodes the claim.
func (c *Claim) append(b []byte) []byte {
	b = append(append(b, greeting...), byte(c.Service))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.From))
	return binary.LittleEndian.AppendUint32(b, uint32(c.To))
}

// parseClaim decodes a claim; false if it is malformed.
func parseClaim(b []byte) (c Claim, ok bool) {
	if string(b[:len(greeting)]) != greeting {
		return c, false
	}
	b = b[len(greeting):]
	return Claim{Service(b[0]), int32(binary.LittleEndian.Uint32(b[1:])),
		int32(binary.LittleEndian.Uint32(b[5:]))}, true
}

// Enter authenticates as a dialer: it verifies the acceptor's proof, and then sends its own. It
// returns the run. The caller sets a deadline.
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

// Admit authenticates a dialer whose claim is expected, and returns the claim. The caller sets a
// deadline.
func Admit(conn net.Conn, s Secret, run Run, expected func(Claim) bool) (c Claim, err error) {
	if s.None() {
		return c, ErrNoSecret
	}
	said := make([]byte, claimSize, claimSize+answerSize)
	if _, err := io.ReadFull(conn, said[:len(greeting)]); err != nil {
		return c, err
	}
	if string(said[:len(greeting)]) != greeting { // a peer with another protocol may send no more
		return c, ErrTurnedAway
	}
	if _, err := io.ReadFull(conn, said[len(greeting):]); err != nil {
		return c, err
	}
	c, ok := parseClaim(said)
	wanted := ok && expected(c)
	// A rank may be dialed before it expects that. It does not answer, so the peer dials again.
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
