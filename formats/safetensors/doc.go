// Package safetensors reads and writes .safetensors, Hugging Face's files of tensors, which have a
// name for every type. What a file says of itself is held against its length before memory is taken
// for elements. The package knows no other format, and no ranks: package arrays does.
package safetensors
