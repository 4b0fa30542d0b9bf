package flat

// Table finds a small number by a 64-bit key: a hash table with open addressing in two flat arrays.
// Lookups allocate nothing. Entries are never removed.
type Table struct {
	keys   []uint64
	values []int32 // −1: free
	used   int
}

// NewTable returns an empty table.
func NewTable() Table {
	t := Table{keys: make([]uint64, 64), values: make([]int32, 64)}
	for i := range t.values {
		t.values[i] = -1
	}
	return t
}

// Find returns the value of a key; −1 if there is none.
func (t *Table) Find(key uint64) int32 {
	mask := uint64(len(t.keys) - 1)
	for i := Spread(key) & mask; ; i = (i + 1) & mask {
		if t.values[i] < 0 || t.keys[i] == key {
			return t.values[i]
		}
	}
}

// Put gives a value to a key that has none.
func (t *Table) Put(key uint64, value int32) {
	if 2*t.used >= len(t.keys) {
		t.grow()
	}
	mask := uint64(len(t.keys) - 1)
	i := Spread(key) & mask
	for t.values[i] >= 0 {
		i = (i + 1) & mask
	}
	t.keys[i], t.values[i] = key, value
	t.used++
}

// grow doubles the room.
func (t *Table) grow() {
	old := *t
	n := 2 * len(old.keys)
	*t = Table{keys: make([]uint64, n), values: make([]int32, n)}
	for i := range t.values {
		t.values[i] = -1
	}
	for i, v := range old.values {
		if v >= 0 {
			t.Put(old.keys[i], v)
		}
	}
}

// Spread mixes the bits of a key, so that near keys get distant hashes: the finalizer of
// MurmurHash3 (Austin Appleby, public domain).
func Spread(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
