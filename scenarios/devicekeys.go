package scenarios

import (
	"strings"

	"collsim/device"
)

// deviceKeys are the rows of device's table that a simulation spends, but for those of messages.
func deviceKeys() []Key {
	keys := []Key{{Path: "device.preset", kind: aChoice, Values: device.Names(), Default: `"ideal"`,
		Example: `"ideal"`, Sweep: true,
		Doc: "The device whose figures hold unless given below; ideal costs nothing."}}
	for _, f := range device.Figures() {
		if strings.HasPrefix(f.Key, "device.") && !f.OfMessage {
			keys = append(keys, figureKey(f, f.Key, "the preset's"))
		}
	}
	return keys
}

// figureKey is the key that sets a figure.
func figureKey(f device.Figure, path, otherwise string) Key {
	k := Key{Path: path, min: f.Least, max: f.Most, Default: otherwise, Example: f.Example,
		Sweep: true, Doc: f.About}
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
	default:
		panic("scenarios: a figure that no key can set: " + f.Name)
	}
	if f.Unit != device.InNumber && f.Unit != device.InFlag {
		k.Example = `"` + f.Example + `"`
	}
	return k
}
