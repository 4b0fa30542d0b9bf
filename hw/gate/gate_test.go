package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tape is a connection that has been sent some bytes, and keeps what is written to it.
type tape struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (c *tape) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c *tape) Write(b []byte) (int, error) { return c.out.Write(b) }

// spy keeps what both sides of a connection say.
type spy struct {
	net.Conn
	read, written bytes.Buffer
}

func (c *spy) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Write(b[:n])
	return n, err
}

func (c *spy) Write(b []byte) (int, error) {
	c.written.Write(b)
	return c.Conn.Write(b)
}

func claim() Claim { return Claim{Service: Data, From: 3, To: 1} }

func expectThat(c Claim) bool { return c == claim() }

func anybody(Claim) bool { return true }

// meet has two sides meet; the spy is on the dialing one.
func meet(t *testing.T, enter, admit func(net.Conn) error) (s *spy, in, out error) {
	t.Helper()
	a, b := net.Pipe()
	s = &spy{Conn: a}
	for _, c := range []net.Conn{a, b} {
		require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	}
	var running sync.WaitGroup
	running.Go(func() { out = admit(b); b.Close() })
	in = enter(s)
	a.Close()
	running.Wait()
	return s, in, out
}

// TestMeet: who knows the secret enters, and both sides know the run and the claim. Who does not
// know it, or claims what is not expected, gets no further; a worker that
// knows it is told that nobody waits for it.
func TestMeet(t *testing.T) {
	secret, other, run := NewSecret(), NewSecret(), NewRun()
	for name, test := range map[string]struct {
		enters, admits Secret
		claim          Claim
		in, out        error
	}{
		"right":            {secret, secret, claim(), nil, nil},
		"wrong secret":     {other, secret, claim(), ErrStranger, io.EOF},
		"wrong claim":      {secret, secret, Claim{Data, 4, 1}, io.EOF, ErrTurnedAway},
		"no such worker":   {secret, secret, Claim{Coordination, 3, 1}, ErrUnwanted, ErrUnwanted},
		"no such stranger": {other, secret, Claim{Coordination, 3, 1}, ErrStranger, io.EOF},
		"no secret":        {Secret{}, secret, claim(), ErrNoSecret, io.EOF},
		"nor here":         {secret, Secret{}, claim(), nil, ErrNoSecret},
	} {
		t.Run(name, func(t *testing.T) {
			_, in, out := meet(t, func(c net.Conn) error {
				got, err := Enter(c, test.enters, test.claim)
				require.Equal(t, err == nil, got == run)
				return err
			}, func(c net.Conn) error {
				_, err := Admit(c, test.admits, run, expectThat)
				return err
			})
			require.ErrorIs(t, out, test.out)
			if name == "nor here" {
				require.Error(t, in)
				return
			}
			require.ErrorIs(t, in, test.in)
		})
	}
}

// TestReplay: all that was said when somebody entered is of no use to who says it again: neither to
// enter the same run, nor another of the same secret, nor to pass for who accepts.
func TestReplay(t *testing.T) {
	secret, run := NewSecret(), NewRun()
	heard, in, out := meet(t, func(c net.Conn) error {
		_, err := Enter(c, secret, claim())
		return err
	}, func(c net.Conn) error {
		_, err := Admit(c, secret, run, anybody)
		return err
	})
	require.NoError(t, errors.Join(in, out))
	for _, again := range []Run{run, NewRun()} {
		_, err := Admit(&tape{in: bytes.NewReader(heard.written.Bytes())}, secret, again, anybody)
		require.ErrorIs(t, err, ErrStranger)
	}
	_, err := Enter(&tape{in: bytes.NewReader(heard.read.Bytes())}, secret, claim())
	require.ErrorIs(t, err, ErrStranger)
}

// TestReflection: a proof is of no use to whom it was shown. Who knows nothing dials, and answers
// with what it was answered: as it is, or as another dialed connection got it.
func TestReflection(t *testing.T) {
	secret, run := NewSecret(), NewRun()
	said := append(new(Claim).append(nil), nonce()...)
	for name, back := range map[string]func(answer []byte) []byte{
		"the proof itself": func(a []byte) []byte { return a[answerSize:] },
		"the nonce":        func(a []byte) []byte { return a[len(Run{}):answerSize] },
		"nothing":          func([]byte) []byte { return make([]byte, proofSize) },
		"the other role": func(a []byte) []byte {
			key := secret.key(run)
			return prove(key, acceptor, append(bytes.Clone(said), a[:answerSize]...))
		},
		"another run's key": func(a []byte) []byte {
			return prove(secret.key(NewRun()), dialer, append(bytes.Clone(said), a[:answerSize]...))
		},
	} {
		_, _, out := meet(t, func(c net.Conn) error {
			c.Write(said)
			answer := make([]byte, answerSize+proofSize)
			if _, err := io.ReadFull(c, answer); err != nil {
				return err
			}
			c.Write(back(answer))
			_, err := io.ReadFull(c, make([]byte, 1))
			return err
		}, func(c net.Conn) error {
			_, err := Admit(c, secret, run, anybody)
			return err
		})
		require.ErrorIs(t, out, ErrStranger, name)
	}
}

// TestSecrets: a secret is long enough not to be guessed, fits into an environment, and does not
// show.
func TestSecrets(t *testing.T) {
	const odd = "a secret with blanks or other than ASCII characters: hexadecimal digits do"
	for text, want := range map[string]string{
		"":                               "a secret of 0 characters: 16 to 1024 are expected",
		"fifteen letters":                "a secret of 15 characters: 16 to 1024 are expected",
		strings.Repeat("x", 1025):        "a secret of 1025 characters: 16 to 1024 are expected",
		"sixteen letters!":               odd,
		"\x1b[31msixteenletters":         odd,
		" 0123456789abcdef0123456789\n ": "",
	} {
		s, err := ParseSecret(text)
		if want != "" {
			require.EqualError(t, err, want)
			require.True(t, s.None())
			continue
		}
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(text), s.Text())
		require.Equal(t, "(a secret) (a secret) {Secret:(a secret)}", fmt.Sprintf("%v %#v %+v", s, s,
			struct{ Secret Secret }{s}))
	}
	a, b := NewSecret(), NewSecret()
	require.NotEqual(t, a, b)
	again, err := ParseSecret(a.Text())
	require.NoError(t, err)
	require.Equal(t, a, again)
}

// door serves a door on TCP; whoever enters gets a byte and is closed.
func door(t *testing.T, s Secret) (d *Door, entered func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	n := 0
	d = &Door{Listener: l, Secret: s, Run: NewRun(), Expected: expectThat,
		Enter: func(c net.Conn, got Claim) {
			mu.Lock()
			defer mu.Unlock()
			if n++; got == claim() {
				c.Write([]byte("!"))
			}
			c.Close()
		}}
	var running sync.WaitGroup
	running.Go(d.Serve)
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	return d, func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

func (d *Door) dial(ctx context.Context) (net.Conn, error) {
	var n net.Dialer
	return n.DialContext(ctx, "tcp", d.Listener.Addr().String())
}

// TestCrowd: before a door stand more than it keeps, who say nothing, nonsense, or what somebody
// else has said. Who knows the secret enters all the same, nobody else does, and what the crowd
// makes the door allocate is little.
func TestCrowd(t *testing.T) {
	secret := NewSecret()
	d, entered := door(t, secret)
	before := allocated()
	says := [][]byte{nil, []byte("GET / HTTP/1.1\r\n\r\n"), []byte(greeting),
		bytes.Repeat([]byte{0xff}, 4096), append((&Claim{Data, 3, 1}).append(nil), nonce()...),
		append((&Claim{Data, 3, 1}).append(nil), make([]byte, 4096)...)}
	const strangers = MaxUnproven + 100
	for i := range strangers {
		conn, err := d.dial(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		conn.Write(says[i%len(says)])
	}
	for range 3 {
		conn, run, err := Knock(t.Context(), d.dial, secret, claim())
		require.NoError(t, err)
		require.Equal(t, d.Run, run)
		b, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Equal(t, "!", string(b))
		conn.Close()
	}
	require.Equal(t, 3, entered())
	require.Eventually(t, func() bool { return d.Turned() >= strangers-MaxUnproven }, 10*time.Second,
		time.Millisecond)
	require.Less(t, allocated()-before, uint64(strangers*32<<10), "of %d strangers", strangers)
	_, _, err := Knock(t.Context(), d.dial, NewSecret(), claim())
	require.ErrorIs(t, err, ErrStranger)
}

// allocated is all memory that this program has ever taken from its heap.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestNobodyAnswers: a door that is closed before it answers is tried until the context ends; one
// that takes its time ends with the context.
func TestNobodyAnswers(t *testing.T) {
	for name, hold := range map[string]bool{"closes": false, "is silent": true} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			var running sync.WaitGroup
			running.Go(func() {
				var kept []net.Conn
				for {
					c, err := l.Accept()
					if err != nil {
						break
					}
					if kept = append(kept, c); !hold {
						c.Close()
					}
				}
				for _, c := range kept {
					c.Close()
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			d := &Door{Listener: l}
			_, _, err = Knock(ctx, d.dial, NewSecret(), claim())
			require.Error(t, err)
			// A dialler may know it before the context does.
			deadline, _ := ctx.Deadline()
			require.False(t, time.Now().Before(deadline), "it was tried that long: %v", err)
			l.Close()
			running.Wait()
		})
	}
}

// FuzzAdmit: no bytes let anybody in, panic, or are read beyond a handshake.
func FuzzAdmit(f *testing.F) {
	f.Add([]byte(greeting))
	f.Add(append((&Claim{Data, 3, 1}).append(nil), make([]byte, nonceSize+proofSize)...))
	f.Add(append((&Claim{Coordination, -1, 1 << 30}).append(nil), nonce()...))
	f.Add(bytes.Repeat([]byte("collsim1\x02\x03"), 20))
	secret, run := NewSecret(), NewRun()
	f.Fuzz(func(t *testing.T, text []byte) {
		in := bytes.NewReader(text)
		c := &tape{in: in}
		_, err := Admit(c, secret, run, anybody)
		require.Error(t, err)
		require.LessOrEqual(t, len(text)-in.Len(), claimSize+proofSize)
		require.LessOrEqual(t, c.out.Len(), answerSize+proofSize)
	})
}

// FuzzEnter: no bytes pass for who knows the secret, or panic.
func FuzzEnter(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, answerSize+proofSize))
	f.Add(make([]byte, answerSize+proofSize+1))
	secret := NewSecret()
	f.Fuzz(func(t *testing.T, text []byte) {
		in := bytes.NewReader(text)
		c := &tape{in: in}
		_, err := Enter(c, secret, claim())
		require.Error(t, err)
		require.LessOrEqual(t, len(text)-in.Len(), answerSize+proofSize)
		require.Equal(t, claimSize, c.out.Len(), "nothing is proven to a stranger")
	})
}
