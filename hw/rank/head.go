package rank

import "sync"

// maxHead bounds what a Head keeps, in bytes.
const maxHead = 1 << 14

// A Head keeps the beginning of what is written to it, such as the output of a process.
type Head struct {
	mu   sync.Mutex
	text []byte
}

// Write appends what fits. It never fails.
func (h *Head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, b[:min(len(b), maxHead-len(h.text))]...)
	return len(b), nil
}

// String returns the text that was kept.
func (h *Head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}
