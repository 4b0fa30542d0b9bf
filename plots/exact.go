package plots

import "math"

// The standard library's logarithms and angles may differ in the last bit between processors. Some
// have them in assembly, and some round a product and a sum only once. Pictures must not differ. So
// every transcendental value goes through the functions below and is rounded to 2^-40: far finer
// than a picture shows. It also makes logarithms of powers exactly whole.

// settled rounds a value to 2^-40.
func settled(x float64) float64 { return math.Round(x*(1<<40)) / (1 << 40) }

func log2(x float64) float64   { return settled(math.Log2(x)) }
func log10(x float64) float64  { return settled(math.Log10(x)) }
func cosine(a float64) float64 { return settled(math.Cos(a)) }
func sine(a float64) float64   { return settled(math.Sin(a)) }

// hypot returns the length of a vector, by operations that round alike on all processors.
func hypot(x, y float64) float64 { return math.Sqrt(float64(x*x) + float64(y*y)) }
