package scenarios

import (
	"fmt"
	"strings"

	"collsim/device"
)

// deviceKeys returns the keys of device's figures, without those that depend on a message's size.
func deviceKeys() []Key {
	keys := []Key{{Path: "device.preset", kind: aChoice, Values: device.Names(), Default: `"ideal"`,
		Example: `"ideal"`, Sweep: true,
		Doc: "The device whose figures hold unless given below; ideal costs nothing (devices.md).",
		by:  (*view).device}}
	for _, f := range device.Figures() {
		if strings.HasPrefix(f.Key, "device.") && !f.OfMessage {
			keys = append(keys, figureKey(f, f.Key, "the preset's"))
		}
	}
	return keys
}

// figureKey returns the key that sets a figure.
func figureKey(f device.Figure, path, otherwise string) Key {
	k := Key{Path: path, min: f.Least, max: f.Most, Default: otherwise, Example: f.Example,
		Sweep: true, Doc: f.About}
	if f.OfGPU {
		k.idle = "without sms a device has no model of a GPU"
	}
	k.to = func(target, value any) { assign(f, target.(*device.Device), value) }
	switch f.Unit {
	case device.InTime:
		k.kind = aTime
	case device.InRate:
		k.kind, k.unlimited, k.min = aRate, true, 0 // a rate that is written is above zero
	case device.InBytes:
		k.kind = aSize
	case device.InNumber:
		k.kind = aWhole
	case device.InFlag:
		k.kind, k.max = aFlag, 0
	case device.InShare:
		k.kind = aShare
	default: // its own type reads it
		k.kind, k.Type, k.min, k.max = aFigure, f.Unit.String(), 0, 0
	}
	if f.Unit != device.InNumber && f.Unit != device.InFlag {
		k.Example = `"` + f.Example + `"`
	}
	return k
}

// assign stores a figure in a device, unless it could not be read.
func assign(f device.Figure, d *device.Device, value any) {
	if value == nil {
		return
	}
	if err := f.Assign(d, value); err != nil {
		panic(err) // it has been read once
	}
}

// figure reads what the device's table knows to read.
func (k *Key) figure(s string) (any, *problem) {
	var d device.Device
	f := device.Find(k.name())
	if err := f.Set(&d, s); err != nil {
		return nil, &problem{text: fmt.Sprintf("%v such as %s is expected", f.Unit, f.Example)}
	}
	return s, nil
}
