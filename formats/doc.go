// Package formats reads and writes schedules as files. One table (Table) says what formats there
// are: how a file is told, read and written, and which options it takes; a package below it for
// each lowers its format to a schedule.Schedule, so that everything that proves, times and draws
// ours does the same for theirs. Arrays in files (arrays: npy, safetensors), measured times
// (measured) and traces (perfetto) are below it, too.
//
// A newcomer adds a package and one row. The package knows no scenario, and nobody who carries
// schedules out.
package formats

import "collsim/formats/internal/foreign"

// What all readers have in common: how they are asked, what they return, and how they name a place
// in a file.
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
