// Package plots draws pictures of timelines, of curves, of simulated against measured times and of
// networks: as SVG, PNG or PDF, for a page, a column or a slide.
//
// A timeline has a row for every lane of every rank, rank 0 on top, and a bar for every step. A
// step's kind is shown twice. Its colour has a fixed meaning (Okabe and Ito's, which readers with
// any of the common colour-vision deficiencies can distinguish). Its letter shows in a grey print
// and a terminal, too. Several timelines in one picture share its time axis. Curves are plain
// numbers over sizes, and a scatter plot is times over times. Each series keeps its colour and
// marker from figure to figure. The same data always gives the same bytes, in every format.
//
// The package knows traces, numbers and networks, and neither schedules nor scenarios. The caller
// writes the title and the caption.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	numbers: exact.go
//	pictures: painter.go pdf.go png.go canvas.go hints.go room.go format.go plots.go marker.go
//	axes: axis.go timeaxis.go chartaxis.go
//	timelines: turns.go timeline.go rows.go classes.go bars.go gpu.go messages.go path.go legend.go
//	  layout.go draw.go text.go
//	charts: curves.go shades.go chartdraw.go facets.go groups.go scatter.go scatterdraw.go
//	  heat.go
//	data: listing.go
//	networks: network.go networkparts.go networkread.go networkkinds.go networkplace.go
//	  networkround.go networkdraw.go
package plots
