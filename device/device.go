// Package device says what a GPU and its wires cost: the parameters o, γ, κ, λ of a step in the
// time model, whether sends are posted to an engine of their own, and the figures of the GPU
// itself. All are rows of one table (Figures), from which keys of scenarios, errors, lists and
// documents derive; presets are data, every figure with its source. The package knows the numbers
// and not what is done with them: package sim spends them.
package device

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/nearest"
	"collsim/unit"
)

// Device holds the costs of one rank's hardware. A step of n bytes from several sources takes
// Overhead, then n over ReduceRate for each source after the first, then, if it neither receives
// nor sends, n over CopyRate; each of the three is rounded up to a picosecond on its own.
type Device struct {
	Name string

	// Overhead is o: what a step costs before any byte moves.
	Overhead unit.Time
	// ReduceRate is 1/γ: bytes of one further source that are added in a second.
	ReduceRate unit.Rate
	// CopyRate is the speed of a step that has no message and no peer.
	CopyRate unit.Rate
	// LaneRate is κ: how fast one lane puts bytes out, shared among the peers of a step.
	LaneRate unit.Rate
	// Channels bounds the channels of a call that does not say how many it has; 0 is one.
	Channels int
	// MultimemEfficiency is the part of what multimem operations put on their links that is data:
	// loads that a switch adds up, and stores that it copies. 0: all of loads, and of stores what
	// their Message says.
	MultimemEfficiency unit.Share
	// SlotLatency is λ: how long after the receiver freed a slot the sender sees it.
	SlotLatency unit.Time
	// Offload says that a send is posted (to a proxy and its NIC, to a copy engine): the lane
	// goes on when it has handed the bytes over and does not wait until they have left.
	Offload bool
	// Queue is how many posted sends may be outstanding; it has a meaning only with Offload.
	Queue int
	// SendBuffer is how many bytes of a connection may not have left yet when the lane that sends
	// them goes on: what a socket takes. A device that offloads has a queue in its place.
	SendBuffer unit.Bytes
	// EagerLimit is the size above which a message is asked for first and sent when its receive is
	// posted; 0 is never.
	EagerLimit unit.Bytes
	// ReceivesAhead is how many steps before its own a receive is posted; it has a meaning only
	// with EagerLimit.
	ReceivesAhead int
	// Slots is the capacity, in slices, of every connection that declares none; 0 is unlimited.
	Slots int

	// Launch is what a call costs on every rank, once, before the first step of any of its lanes.
	Launch unit.Time
	// Own are the figures of messages, and Ranges those of messages up to a size, by size.
	Own    Message
	Ranges []Range
	// Protocols are the latencies of NCCL's protocols, where they are known: of NVIDIA's GPUs.
	Protocols []Protocol

	// GPU are the figures of what computes.
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

// Lookup returns the preset of that name, or an error that lists the nearest names.
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
	return Device{}, fmt.Errorf("device: %.40q: no device of that name; %s: %s",
		name, hint, strings.Join(names, ", "))
}

// Validate returns an error that names the first parameter that no device can have.
func (d Device) Validate() error {
	for _, f := range rows() {
		if f.OfMessage {
			continue // with its range
		}
		if err := f.check(&d); err != nil {
			return err
		}
	}
	switch {
	case d.SendBuffer > 0 && d.Offload:
		return fmt.Errorf("device: send_buffer = %v: a device that offloads has a queue of messages, "+
			"not a buffer of bytes", d.SendBuffer)
	case d.Offload && d.Queue == 0:
		return fmt.Errorf("device: queue = 0: a device that offloads needs at least 1")
	}
	for i := range d.Protocols {
		if err := d.Protocols[i].Validate(); err != nil {
			return err
		}
	}
	return d.validateRanges()
}

// MaxCost bounds every time of a device, so that sums of very many steps stay below Forever.
const MaxCost = 1000 * unit.Second
