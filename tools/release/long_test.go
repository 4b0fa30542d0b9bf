//go:build long

package main

const long = true
