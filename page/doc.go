// Package page writes results as one HTML file that can be sent to a colleague: verdicts and notes,
// tables that can be sorted and filtered, curves, heat maps, timelines, the traffic of links and
// ranks, and what repeats it all.
//
// The file is self-contained. Nothing in it asks a network for anything. Without script it still
// shows every table, and curves and timelines as pictures of package plots. Equal pages give equal
// bytes.
//
// A Page is plain data; the package knows neither results nor scenarios. What is drawn by script
// is in a file each in the folder assets: curves.js, heat.js, timeline.js, …. They draw SVG and a
// canvas themselves: a chart library would be larger than all of them, and has no timelines.
package page
