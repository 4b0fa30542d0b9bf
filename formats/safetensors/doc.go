// Package safetensors reads and writes .safetensors, Hugging Face's files of tensors, which have a
// name for every type. Headers are checked against the length of the file before elements are
// allocated. The package knows no other format, and no ranks: package arrays does.
package safetensors
