// Package symmetry has the arithmetic by which one rank, link or step stands for many.
//
//   - A Group translates ranks. A Subgroup divides them into orbits, with one representative each.
//   - Colours number what distinguishes vertices at first sight.
//   - A Partition divides the vertices of a graph by colours, and then by what their arcs lead to.
//     Each class has one representative.
//
// The package knows nothing of schedules and networks. Packages that use it choose what is alike,
// and say why one may stand for the others there.
package symmetry
