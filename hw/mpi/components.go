package mpi

import (
	"os"
	"path/filepath"
)

// layersVariable says which of Open MPI's components for adapters that match messages (its
// framework mtl) may be used; unneeded are those that bring libpsm2 along, one through libfabric.
const (
	layersVariable = "OMPI_MCA_mtl"
	unneeded       = "^ofi,psm,psm2"
)

// adapters is where Linux shows the adapters that those components are for: InfiniBand and its
// like, Omni-Path, TrueScale, Slingshot, Aries.
func adapters() []string {
	return []string{"/sys/class/infiniband/*", "/dev/hfi1*", "/dev/ipath*", "/sys/class/cxi/*",
		"/dev/kgni*"}
}

// components are the variables that keep ranks from opening what they have no use for: libpsm2
// measures a clock for 200 ms as soon as it is loaded, and every start of ranks waited for that.
// Where this machine has an adapter, or ranks may be on others, nothing is kept from them; nor
// where the user has chosen.
func (c *Config) components(adapters []string) []string {
	if _, chosen := os.LookupEnv(layersVariable); chosen || c.Listen != "" {
		return nil
	}
	for _, pattern := range adapters {
		if found, err := filepath.Glob(pattern); err != nil || len(found) > 0 {
			return nil
		}
	}
	return []string{layersVariable + "=" + unneeded}
}
