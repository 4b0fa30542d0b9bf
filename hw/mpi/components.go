package mpi

import (
	"os"
	"path/filepath"
)

// layersVariable selects Open MPI's components for adapters that match messages (framework mtl).
// The components in unneeded load libpsm2, directly or through libfabric.
const (
	layersVariable = "OMPI_MCA_mtl"
	unneeded       = "^ofi,psm,psm2"
)

// adapters lists the paths of network adapters that need message-matching components: InfiniBand
// and the like, Omni-Path, TrueScale, Slingshot, Aries. Patterns are those of filepath.Glob.
func adapters() []string {
	return []string{"/sys/class/infiniband/*", "/dev/hfi1*", "/dev/ipath*", "/sys/class/cxi/*",
		"/dev/kgni*"}
}

// components returns the variables that disable components without hardware. Otherwise every start
// of ranks takes 200 ms longer: libpsm2 calibrates a clock when it is loaded. It disables nothing
// if the machine has such an adapter, if ranks may be on other machines, or if the user has chosen.
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
