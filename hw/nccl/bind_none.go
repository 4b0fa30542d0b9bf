//go:build !(linux && (amd64 || arm64) && !nohw)

package nccl

import "errors"

// loads reports whether this program can load libraries.
const loads = false

func open(string) (uintptr, error) { return 0, errors.New("this program loads no libraries") }

func symbol(uintptr, string) (uintptr, error) { return open("") }

func invoke(uintptr, ...uintptr) uintptr { panic("nccl: a call without a library") }

func withID(uintptr, int, *uniqueID, int) []uintptr { return nil }
