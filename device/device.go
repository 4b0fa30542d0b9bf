// Package device describes the costs of a GPU and its wires. They are the parameters o, γ, κ, λ of
// a step in the time model, whether sends are posted to an engine of their own, and the figures of
// the GPU itself. All are rows of one table (Figures), from which scenario keys, errors, lists and
// documents derive. Presets are data, every figure with its source. The package knows the numbers
// and not their use: package sim applies them.
package device

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/nearest"
	"collsim/unit"
)

// Device holds the costs of one rank's hardware. A step of n bytes from several sources takes
// Overhead, then n over ReduceRate for each source after the first. If it neither receives nor
// sends, n over CopyRate follows. Each of the three is rounded up to a picosecond on its own.
type Device struct {
	Name string

	// Overhead is o: the time of a step before any byte moves.
	Overhead unit.Time
	// ReduceRate is 1/γ: the bytes of a further source that are added in a second.
	ReduceRate unit.Rate
	// CopyRate is the rate of a step that has no message and no peer.
	CopyRate unit.Rate
	// LaneRate is κ: the rate at which one lane sends, shared among the peers of a step.
	LaneRate unit.Rate
	// Channels bounds the channels of a call that does not set their number; 0 is one.
	Channels int
	// MultimemEfficiency is the share of data in what multimem operations put on their links: loads
	// that a switch reduces, and stores that it multicasts. 0 means all for loads, and for stores
	// the efficiency of their Message.
	MultimemEfficiency unit.Share
	// SlotLatency is λ: the time from when the receiver frees a slot until the sender sees it.
	SlotLatency unit.Time
	// Offload says that a send is posted (to a proxy and its NIC, or to a copy engine). The lane
	// continues when it has handed the bytes over, and does not wait until they have left.
	Offload bool
	// Queue is the most posted sends that may be outstanding; it is used with Offload only.
	Queue int
	// SendBuffer is the bytes of a connection that may not have left yet when the sending lane
	// continues: the buffer of a socket. A device that offloads has a queue instead.
	SendBuffer unit.Bytes
	// EagerLimit is the size above which a message is sent only once its receive is posted
	// (rendezvous); 0 is never.
	EagerLimit unit.Bytes
	// ReceivesAhead is the number of steps before its own at which a receive is posted; it is used
	// with EagerLimit only.
	ReceivesAhead int
	// Slots is the capacity, in slices, of every connection that does not state one; 0 is
	// unlimited.
	Slots int

	// Launch is the time of a call on every rank, once, before the first step of any of its lanes.
	Launch unit.Time
	// Own holds the figures of messages, and Ranges those of messages up to a size, by size.
	Own    Message
	Ranges []Range
	// Protocols holds the latencies of NCCL's protocols, where they are known: for NVIDIA's GPUs.
	Protocols []Protocol

	// GPU holds the figures of the GPU model.
	GPU GPU
}

// Ideal returns the device on which only the wires cost time: the published closed forms hold on
// it. Its 8 slots are NCCL's NCCL_STEPS (src/include/device.h).
func Ideal() Device {
	return Device{
		Name:       "ideal",
		ReduceRate: unit.Unlimited,
		CopyRate:   unit.Unlimited,
		LaneRate:   unit.Unlimited,
		Slots:      8,
	}
}

// Names returns the names that Lookup knows.
func Names() []string {
	names := []string{Ideal().Name}
	for _, g := range gpus() {
		names = append(names, g.name)
	}
	return names
}

// Lookup returns the preset with a name, or an error that lists the nearest names.
func Lookup(name string) (Device, error) {
	if name == Ideal().Name {
		return Ideal(), nil
	}
	all := gpus()
	if i := slices.IndexFunc(all, func(g gpu) bool { return g.name == name }); i >= 0 {
		return all[i].preset().Device, nil
	}
	hint := "one of"
	names := Names()
	if near := nearest.To(name, names, 3); len(near) > 0 {
		hint, names = "nearest", near
	}
	return Device{}, fmt.Errorf("%.40q: no device of that name; %s: %s",
		name, hint, strings.Join(names, ", "))
}

// Validate returns an error that names the first invalid parameter.
func (d Device) Validate() error {
	for _, f := range rows() {
		if f.OfMessage {
			continue // checked with its range
		}
		if err := f.check(&d); err != nil {
			return err
		}
	}
	switch {
	case d.SendBuffer > 0 && d.Offload:
		return fmt.Errorf("send_buffer = %v: a device that offloads has a queue of messages, "+
			"not a buffer of bytes", d.SendBuffer)
	case d.Offload && d.Queue == 0:
		return fmt.Errorf("queue = 0: a device that offloads needs at least 1")
	}
	for i := range d.Protocols {
		if err := d.Protocols[i].Validate(); err != nil {
			return err
		}
	}
	return d.validateRanges()
}

// MaxCost bounds every time of a device, so that the sum over very many steps stays below Forever.
const MaxCost = 1000 * unit.Second

// Multicasts reports Preset.Multicasts of the device with that name.
func Multicasts(name string) bool {
	return slices.ContainsFunc(gpus(), func(g gpu) bool { return g.name == name && g.multicasts })
}
