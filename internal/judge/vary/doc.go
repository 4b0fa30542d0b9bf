// Package vary makes schedules to be judged: random ones whose messages all match, others with
// something changed in their steps (a step gone, two exchanged, a message made a put, …) or in
// their text, and smaller ones of which the same is true. What comes out may be right or wrong;
// that is for others to say. All chance comes from the generator that is given.
package vary
