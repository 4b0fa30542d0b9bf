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
package plots
