package tidy

// Code that breaks each rule where it says so, and looks like it elsewhere.
const (
	badInit = `package p
type t struct{}
func (t) init() {}
func init() {} // BAD
`
	badChange = `package p
import ("bytes"; "embed"; "os"; "regexp")
var n int
var m = map[int]int{}
var a [3]struct{ x []int }
var b bytes.Buffer
var p = new(int)
var re = regexp.MustCompile("x")
var fs embed.FS
func f() int {
	n := 1 // another n
	n++
	_ = re.MatchString("x")
	_, _ = fs.Open("x")
	_ = b // reading
	local := m
	_ = local
	return n + a[0].x[0]
}
func g() {
	n = 1 // BAD
	n++ // BAD
	n += 2 // BAD
	m[1] = 2 // BAD
	a[0].x[1] = 3 // BAD
	*p = 4 // BAD
	b.WriteString("x") // BAD
	delete(m, 1) // BAD
	clear(m) // BAD
	copy(a[0].x, a[1].x) // BAD
	os.Args = nil // BAD
	for n = range 3 { // BAD
	}
	_, (n) = 1, 2 // BAD
}
`
	badClock = `package p
import clock "time"
func f() (clock.Duration, clock.Time) {
	d := 3 * clock.Second
	now := clock.Now // BAD
	clock.Sleep(d) // BAD
	return clock.Since(now()), clock.Unix(1, 2) // BAD
}
`
	badLuck = `package p
import ("math/rand"; crypto "crypto/rand")
func f() int {
	var r *rand.Rand = rand.New(rand.NewSource(1))
	x := []byte{0}
	crypto.Read(x) // BAD
	rand.Shuffle(1, nil) // BAD
	return r.Intn(3) +
		rand.Intn(3) // BAD
}
`
	badPrinting = `package p
import ("fmt"; "log"; "os")
func f(w *os.File) error {
	fmt.Fprintln(w, fmt.Sprint("x"))
	fmt.Println("x") // BAD
	fmt.Fprintln(os.Stderr) // BAD
	log.Printf("x") // BAD
	println("x") // BAD
	os.Exit(1) // BAD
	return fmt.Errorf("x")
}
`
	badWriting = `package p
import files "os"
func f() error {
	g, err := files.Open("x")
	_, _ = files.ReadFile("x")
	_ = files.Remove("x")
	_, _ = files.Create("x") // BAD
	_, _ = files.OpenFile("x", files.O_WRONLY, 0) // BAD
	write := files.WriteFile // BAD
	_ = write("x", nil, 0)
	_ = files.Rename("x", "y") // BAD
	_, _ = g.WriteString("x")
	return err
}
`
	badReading = `package p
import ("archive/zip"; "compress/gzip"; "io"; files "os")
func f(r io.Reader, at io.ReaderAt) error {
	g, err := files.Open("x") // BAD
	_, _ = files.ReadFile("x") // BAD
	read := io.ReadAll // BAD
	_, _ = read(g)
	_, _ = gzip.NewReader(r) // BAD
	_, _ = zip.NewReader(at, 1) // BAD
	_, _ = io.Copy(io.Discard, r) // BAD
	_, _ = io.CopyN(io.Discard, r, 3)
	_, _ = io.ReadFull(r, []byte{0})
	_, _ = gzip.NewWriter(nil), files.Remove("x")
	return err
}
`
	badMapRange = `package p
import ("maps"; "slices")
type table map[string]int
func f(m map[int]bool, t table, s []int) []int {
	for range s {
	}
	for range m { // BAD
	}
	for k := range t { // BAD
		_ = k
	}
	for range maps.Values(m) { // BAD
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		_ = k
	}
	delete(m, 1)
	return slices.Collect(maps.Keys(m)) // BAD
}
`
	badGoroutine = `package p
func f() {
	defer f()
	go f() // BAD
}
`
	badFused = `package p
type number interface{ ~int64 | ~float32 }
func f(x, y, z float64, i, j int) float64 {
	const half = 0.5
	_ = i*j + i
	_ = float64(x*y) + z
	_ = (x + y) * z
	_ = x*y/z + half*2
	_ = x*y + z // BAD
	_ = z - (x * y) // BAD
	_ = -(x * y) + z // BAD
	z += x * y // BAD
	z -= float64(x * y)
	t := x * y
	_ = t * z
	_ = z + t // BAD
	var u = x * y
	u += z // BAD
	w := x
	w *= y
	_ = w - z // BAD
	return float64(i*j) + z
}
func g[T number](x, y, z T) T {
	z += T(x * y)
	return x*y + z // BAD
}
`
)
