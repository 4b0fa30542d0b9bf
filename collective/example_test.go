package collective_test

import (
	"fmt"

	"collsim/collective"
)

// The backward pass of a maximum that is scattered along the second axis of a tensor.
func ExampleCommunication_Gradient() {
	forward, err := collective.ParseCommunication("reduce_scatter bfloat16 max shape 4x6 axis 1")
	if err != nil {
		panic(err)
	}
	backward, err := forward.Gradient(3)
	if err != nil {
		panic(err)
	}
	spec, err := forward.Spec(3)
	if err != nil {
		panic(err)
	}
	how, err := collective.Gradient(spec)
	if err != nil {
		panic(err)
	}
	fmt.Println(backward, "times", how.Scale, "mask", how.Mask)
	// Output: all_gather bfloat16 shape 4x2 axis 1 times 1 mask true
}
