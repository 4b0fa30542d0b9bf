package scenarios

import (
	"slices"
	"sync"
)

// Keys lists all keys of a scenario file, table by table. Loader, --set, [sweep], documentation
// and completion derive from it.
func Keys() []Key {
	keys := slices.Clone(keyTable())
	for i := range keys {
		keys[i].Values = slices.Clone(keys[i].Values) // the caller may write to them
	}
	return keys
}

// keyTable makes the list of Keys once, since every scenario that is read needs it.
var keyTable = sync.OnceValue(func() []Key {
	keys := append(topKeys(), topologyKeys()...)
	keys = append(append(keys, arrivalKeys()...), faultKeys()...)
	keys = append(append(keys, deviceKeys()...), messageKeys()...)
	keys = append(keys, protocolKeys()...)
	keys = append(keys, runKeys()...)
	keys = append(keys, collectiveKeys()...)
	keys = append(keys, formKeys()...)
	keys = append(keys, sizeKeys()...)
	keys = append(keys, passKeys()...)
	keys = append(keys, programKeys()...)
	keys = append(keys, loweringKeys()...)
	keys = append(append(keys, libraryKeys()...), environmentKeys()...)
	keys = append(keys, benchmarkKeys()...)
	keys = append(keys, measuredKeys()...)
	keys = append(keys, hardwareKeys()...)
	keys = append(keys, variantKeys(singleKeys())...)
	keys = append(keys, outputKeys()...)
	for i := range keys {
		k := &keys[i]
		if k.Type == "" {
			k.Type = words[k.kind]
		}
		if k.kind == aFlag {
			k.Values = []string{"true", "false"}
		}
		k.Limit = k.bounds()
		if toml := setNode(k.Default); k.to != nil && toml.raw != toml.value { // else it is in words
			k.usual, _ = k.read(toml)
		}
	}
	return keys
})
