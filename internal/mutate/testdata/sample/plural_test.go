package sample

import "testing"

// TestPlural forgets the 1.
func TestPlural(t *testing.T) {
	if Plural(7, "rank") != "7 ranks" {
		t.Fatal(Plural(7, "rank"))
	}
}
