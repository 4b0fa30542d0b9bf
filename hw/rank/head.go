package rank

import "sync"

// maxHead is how much of it a Head keeps.
const maxHead = 1 << 14

// Head keeps the beginning of what is written to it: of what a process says before it ends.
type Head struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (h *Head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, b[:min(len(b), maxHead-len(h.text))]...)
	return len(b), nil
}

// String is what it has kept.
func (h *Head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}
