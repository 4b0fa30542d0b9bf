// Package formats reads and writes schedules as files. One table (Table) lists the formats: how a
// file is recognised, read and written, and which options it takes. A package below it for each
// format lowers it to a schedule.Schedule, so that proof, simulation and pictures treat it like our
// own. Arrays in files (arrays: npy, safetensors), measured times (measured) and traces (perfetto)
// are below it, too.
//
// A new format is a package and one row. The package knows no scenario and no executor.
package formats

import "collsim/formats/internal/foreign"

// Types that all readers share: their options, their result, and the naming of places in a file.
type (
	Options   = foreign.Options
	File      = foreign.File
	Place     = foreign.Place
	Placement = foreign.Placement
	Error     = foreign.Error
)

// The placements of an output.
const (
	AsFile     = foreign.AsFile
	OutOfPlace = foreign.OutOfPlace
	InPlace    = foreign.InPlace
)
