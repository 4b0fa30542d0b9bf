package plots

import "math"

// What the standard library computes of logarithms and angles may differ in its last bit from one
// processor to another: there is assembly on some, and on others a sum and a product are rounded
// once. A picture shall not, so whatever is transcendental goes through here and is rounded to
// 2^-40. That is far finer than what a picture shows, and makes whole those that are whole: the
// logarithms of powers.

func settled(x float64) float64 { return math.Round(x*(1<<40)) / (1 << 40) }

func log2(x float64) float64   { return settled(math.Log2(x)) }
func log10(x float64) float64  { return settled(math.Log10(x)) }
func cosine(a float64) float64 { return settled(math.Cos(a)) }
func sine(a float64) float64   { return settled(math.Sin(a)) }

// hypot is the length of a vector, by operations that round alike everywhere.
func hypot(x, y float64) float64 { return math.Sqrt(float64(x*x) + float64(y*y)) }
