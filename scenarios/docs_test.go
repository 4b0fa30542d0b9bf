package scenarios

import (
	"fmt"
	"strings"

	"collsim/topology"
)

// markdown makes the reference of the scenario file, docs/scenario.md, from the key table.
func markdown() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(markdownHead, "~", "`"))
	keys := Keys()
	for _, s := range sections {
		if s.path == "" {
			b.WriteString("\n## Top level\n\n")
		} else {
			b.WriteString("\n## `" + s.header() + "`\n\n")
		}
		b.WriteString(s.doc + "\n")
		rows := 0
		for i := range keys {
			if k := &keys[i]; k.table() == s.path {
				if rows++; rows == 1 {
					b.WriteString("\n| key | value | default | meaning |\n|---|---|---|---|\n")
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.name(), k.markdownValue(),
					markdownDefault(k.Default), escape(k.Doc))
			}
		}
		if s.path == "topology" {
			b.WriteString(markdownPresets())
		}
	}
	return b.String()
}

// markdownPresets makes the table of presets, which package topology describes.
func markdownPresets() string {
	var b strings.Builder
	b.WriteString("\n| preset | takes | shape |\n|---|---|---|\n")
	for _, p := range topology.Catalogue() {
		takes := "`" + strings.Join(p.Takes, "` `") + "`"
		if p.OnlyNICs {
			takes = "`oversubscription`, in `[topology.network]` only"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, takes, escape(p.Text))
	}
	return b.String()
}

// markdownHead stands before the tables; ~ is a backquote.
const markdownHead = `# The scenario file

Generated from the key table of package scenarios; do not edit.

A scenario is a TOML file: a network, a device, and one or more collectives to run on it. An
unknown key is an error. Sizes are ~"64 MiB"~ (2²⁰) or ~"64 MB"~ (10⁶), rates ~"100 Gbit/s"~
or ~"12.5 GB/s"~, times ~"500 ns"~ or ~"1.5 us"~.

* **lists**: where the table says *or a list*, ~[a, b]~ makes one point for each value; so does a
  range, ~{ from = "1 KiB", to = "1 GiB", factor = 2 }~ or with ~step~, both ends included.
* **sweep**: keys marked ↻ may stand in ~[sweep]~.
* **paths**: ~--set collective.bytes=1KiB~, ~[sweep]~ and errors name keys by table and key. With
  several tables of one name all are meant, or one by its number from 0:
  ~collective[1].bytes~. ~--set collective.bytes~ takes the place of
  ~count~ and ~shape~, and the reverse; and of a sweep over it. ~--with FILE~ sets all keys of a
  file so.
* **files** are relative to the scenario.

Limits: 16 MiB of TOML, 10000 values in a list, 100000 points.
`

// markdownValue says what a value may be.
func (k *Key) markdownValue() string {
	text := k.Type
	switch {
	case k.kind == aFlag:
	case len(k.Values) > 0:
		text = "`\"" + strings.Join(k.Values, "\"` `\"") + "\"`"
	case k.Limit != "":
		text += ", " + k.Limit
	}
	switch {
	case k.kind == aFlag:
	case len(k.Values) == 0:
		text += ": `" + escape(k.Example) + "`"
	case k.listed():
		text += " `" + escape(k.Example) + "`"
	}
	if k.Axis {
		text += ", or a list"
	}
	if k.Sweep {
		text += " ↻"
	}
	return text
}

// markdownDefault sets a default as code where it is a value, else as words.
func markdownDefault(s string) string {
	switch {
	case s == "":
		return ""
	case strings.HasPrefix(s, `"`) || !strings.ContainsAny(s, " '") && s != "none":
		return "`" + s + "`"
	}
	return s
}

func escape(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
