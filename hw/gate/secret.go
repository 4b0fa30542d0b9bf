package gate

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// Secret is what all members of a run know, and nobody else. Its zero value is none. It does not
// show when it is printed.
type Secret struct{ text string }

// The lengths of a secret: what is overheard of a proof must not tell it by trying.
const minSecret, maxSecret = 16, 1024

// NewSecret returns a secret that nobody knows.
func NewSecret() Secret { return Secret{rand.Text()} }

// ParseSecret reads a secret: blanks around it do not count.
func ParseSecret(text string) (Secret, error) {
	text = strings.TrimSpace(text)
	if n := len(text); n < minSecret || n > maxSecret {
		return Secret{}, fmt.Errorf("a secret of %d characters: %d to %d are expected", n, minSecret,
			maxSecret)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Secret{}, errors.New("a secret with blanks or other than ASCII characters: hexadecimal " +
			"digits do")
	}
	return Secret{text}, nil
}

// Text is the secret itself, for who starts a member of the run.
func (s Secret) Text() string { return s.text }

// None reports whether there is no secret.
func (s Secret) None() bool { return s.text == "" }

// String hides it.
func (s Secret) String() string { return "(a secret)" }

// GoString hides it.
func (s Secret) GoString() string { return s.String() }

// Run tells a run from all others, also from those of the same secret. It is no secret.
type Run [16]byte

// NewRun returns a run of its own.
func NewRun() (r Run) {
	rand.Read(r[:])
	return r
}

// key is what proves that its holder knows the secret, in one run.
func (s Secret) key(r Run) []byte {
	key, err := hkdf.Key(sha256.New, []byte(s.text), r[:], "collsim run", sha256.Size)
	if err != nil {
		panic(err) // a key of this length can be derived
	}
	return key
}
