package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collsim"
	"collsim/algos"
	"collsim/collective"
	"collsim/formats"
	"collsim/internal/nearest"
	"collsim/internal/prose"
	"collsim/run"
	"collsim/scenarios"
	"collsim/topology"
)

// things returns the subjects of collsim list.
func things() []string {
	return []string{"algorithms", "topologies", "machines", "devices", "formats", "executors",
		"examples", "keys"}
}

func (a *app) listCommand() *cobra.Command {
	var kind string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [" + strings.Join(things(), "|") + "]",
		Short: "list what there is",
		Long: "List prints a name and a few words a line; without an argument, of everything but " +
			"keys; of machines or devices alone, all figures with their sources.",
		Example:   "  collsim list algorithms --kind all_reduce\n  collsim list keys",
		ValidArgs: things(),
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := whatToList(args)
			if err != nil {
				return err
			}
			k := collective.Kind(0)
			if kind != "" {
				if k, err = collective.ParseKind(kind); err != nil {
					return kindError(kind)
				}
				if !slices.Contains(what, "algorithms") {
					return &usageError{Text: "--kind is for algorithms, not for " + what[0]}
				}
				what = []string{"algorithms"}
			}
			return a.list(cmd.Context(), what, k, asJSON)
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "only algorithms of this `KIND` of collective")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func whatToList(args []string) ([]string, error) {
	switch {
	case len(args) == 0:
		return things()[:7], nil
	case len(args) > 1:
		e := &usageError{Text: "one thing to list is expected, not " + fmt.Sprint(len(args))}
		if _, err := collective.ParseKind(args[1]); err == nil && args[0] == "algorithms" {
			e.Hint = "of one kind: collsim list algorithms --kind " + args[1]
		}
		return nil, e
	case slices.Contains(things(), args[0]):
		return args, nil
	}
	e := &usageError{Text: fmt.Sprintf("%q cannot be listed", args[0]),
		Hint: "there are " + strings.Join(things(), ", ")}
	if _, err := collective.ParseKind(args[0]); err == nil {
		e.Hint = "its algorithms: collsim list algorithms --kind " + args[0]
		return nil, e
	}
	if near := nearest.To(args[0], things(), 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return nil, e
}

// kindNames lists the kinds of collectives.
func kindNames() (names []string) {
	for _, k := range collective.Kinds() {
		names = append(names, k.String())
	}
	return names
}

func kindError(kind string) error {
	names := kindNames()
	e := &usageError{Text: fmt.Sprintf("--kind %q: no kind of that name", kind),
		Hint: "kinds are " + strings.Join(names, ", ")}
	if near := nearest.To(kind, names, 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return e
}

// entry is one thing in a list: its name first.
type entry struct {
	Name    string   `json:"name"`
	Kinds   []string `json:"kinds,omitempty"`
	Type    string   `json:"type,omitempty"`
	Limit   string   `json:"limit,omitempty"`  // bounds of a value, in words
	Values  []string `json:"values,omitempty"` // all that a choice has
	Default string   `json:"default,omitempty"`
	Takes   []string `json:"takes,omitempty"`
	About   string   `json:"about"`
	Source  string   `json:"source,omitempty"`
	Missing string   `json:"missing,omitempty"` // why it is not available here, and how to get it
	library string   // of an algorithm that is one's: "openmpi:"
	// Figures are a device's, with the source of each.
	Figures []deviceFigure `json:"figures,omitempty"`
}

// list prints lists, each under its name.
func (a *app) list(ctx context.Context, what []string, k collective.Kind, asJSON bool) error {
	lists := map[string][]entry{}
	var b strings.Builder
	for i, name := range what {
		entries := entriesOf(ctx, name, k)
		lists[name] = entries
		if i > 0 {
			b.WriteString("\n")
		}
		if len(what) > 1 {
			b.WriteString("# " + name + "\n")
		}
		if name == "keys" {
			b.WriteString(keysText(entries))
			continue
		}
		b.WriteString(entriesText(name, entries, len(what) == 1))
	}
	if asJSON {
		text, err := json.MarshalIndent(lists, "", "  ")
		if err != nil {
			return err
		}
		a.printJSON(a.out, append(text, '\n'))
		return nil
	}
	a.print(a.out, b.String())
	return nil
}

// longName is the length of a name with its parameters from which on a list leaves the parameters
// out.
const longName = 45

// entriesText has a line for each entry, or a few where its text is long; with all that it has,
// those of figures too.
func entriesText(name string, entries []entry, all bool) string {
	blocks := [][][]string{nil}
	for i, e := range entries {
		if i > 0 && e.library != entries[i-1].library { // columns of their own
			blocks = append(blocks, nil)
		}
		cells := []string{e.Name}
		if base, _, has := strings.Cut(e.Name, "("); has && len(e.Name) > longName {
			cells[0] = base + "(…)" // JSON and docs/algorithms.md have them
		}
		if len(e.Kinds) > 0 {
			cells = append(cells, strings.Join(e.Kinds, " "))
		}
		switch name {
		case "topologies", "executors":
			cells = append(cells, strings.Join(e.Takes, " "))
		case "formats":
			cells = append(cells, "."+strings.Join(e.Takes, " ."))
		}
		cells = append(cells, e.About)
		if e.Missing != "" {
			cells[len(cells)-1] += " (not here: " + e.Missing + ")"
		}
		last := &blocks[len(blocks)-1]
		if *last = append(*last, cells); !all {
			continue
		}
		for _, f := range e.Figures { // below their device
			*last = append(*last, []string{"  " + f.Name, f.Value, f.Source})
		}
	}
	return columns(blocks)
}

// keysText has a paragraph for each key: its name and what it takes, then what it means.
func keysText(keys []entry) string {
	const width = 90
	var b strings.Builder
	for _, k := range keys {
		what := k.Type
		switch {
		case len(k.Values) > 0 && (k.Type == "choice" || k.Type == "true or false"):
			what = strings.Join(k.Values, " or ")
			if len(k.Values) > 2 {
				what = "one of " + strings.Join(k.Values, ", ")
			}
		case len(k.Values) > 0:
			what += ": " + strings.Join(k.Values, ", ")
		case k.Limit != "":
			what += ", " + k.Limit
		}
		if k.Default != "" {
			what += "; default " + k.Default
		}
		head := fmt.Sprintf("%-28s  ", k.Name)
		for _, line := range prose.Wrap(what, width, head, strings.Repeat(" ", 30)) {
			b.WriteString(line + "\n")
		}
		for _, line := range prose.Wrap(k.About, width, "    ", "    ") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func entriesOf(ctx context.Context, name string, k collective.Kind) (list []entry) {
	switch name {
	case "algorithms":
		for _, al := range run.Algorithms() {
			if k == 0 || al.Does(k) {
				list = append(list, algorithmEntry(al))
			}
		}
	case "topologies":
		return topologies()
	case "machines":
		return machines()
	case "devices":
		return devices()
	case "formats":
		for _, f := range formats.Table() {
			list = append(list, entry{Name: f.Name, Takes: f.Extensions, About: f.About})
		}
	case "executors":
		return listExecutors(ctx)
	case "examples":
		for _, name := range scenarios.Examples() {
			list = append(list, entry{Name: "example:" + name, About: exampleTitle(name)})
		}
	case "keys":
		for _, key := range scenarios.Keys() {
			list = append(list, entry{Name: key.Path, Type: key.Type, Limit: key.Limit,
				Values: key.Values, Default: key.Default, About: key.Doc})
		}
	}
	return list
}

func algorithmEntry(al algos.Algorithm) entry {
	e := entry{Name: al.Name, About: al.About, Source: al.Source,
		library: al.Name[:strings.Index(al.Name, ":")+1]}
	for _, kind := range al.Kinds {
		e.Kinds = append(e.Kinds, kind.String())
	}
	var params []string
	for _, p := range al.Params {
		params = append(params, p.Name+"="+p.Value)
	}
	if len(params) > 0 {
		e.Name += "(" + strings.Join(params, ",") + ")"
	}
	return e
}

// topologies lists the presets of package topology, with the keys that each takes besides
// bandwidth and latency.
func topologies() (list []entry) {
	for _, p := range topology.Catalogue() {
		list = append(list, entry{Name: p.Name, Takes: p.Takes, About: p.Text})
	}
	return append(list,
		entry{Name: "(nodes)", Takes: []string{"nodes", "node", "network"},
			About: "Nodes of GPUs: [topology.node] inside each, [topology.network] between them."},
		entry{Name: "(links)", Takes: []string{"link"}, About: "Links by hand, in [[topology.link]]."})
}

// exampleTitle returns the name that an example gives itself.
func exampleTitle(name string) string {
	s, err := run.Load("example:"+name, nil, run.LoadOptions{})
	if err != nil {
		panic(err) // an example of ours
	}
	return s.Name
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON, licenses bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{Text: fmt.Sprintf("version takes no argument, not %q", args[0])}
			}
			if licenses {
				a.print(a.out, collsim.Notice())
				return nil
			}
			if !asJSON {
				a.print(a.out, "collsim "+run.Version+"\n")
				return nil
			}
			text, err := json.Marshal(struct {
				Collsim string `json:"collsim"`
				Schema  int    `json:"schema"`
				Go      string `json:"go"`
			}{run.Version, 1, runtime.Version()})
			a.printJSON(a.out, append(text, '\n'))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&licenses, "licenses", false, "print the licences of all that it contains")
	return cmd
}
