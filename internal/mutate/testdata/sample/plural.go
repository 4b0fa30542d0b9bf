// Package sample is changed by the tests of mutate.
package sample

import "fmt"

// Plural is a number of things. Its test tries 7 alone, and does not notice where 1 is another
// number.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprint(n, " ", thing, "s")
}
