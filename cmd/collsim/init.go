package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collsim/algos"
	"collsim/collective"
	"collsim/internal/nearest"
	"collsim/run"
)

// initFlags has the flags of a new scenario. Single letters are those of nccl-tests.
type initFlags struct {
	kind      collective.Kind
	from, to  string
	factor    int
	dtype     string
	op        string
	root      int
	network   networkFlags
	algorithm string
}

func (a *app) initCommand() *cobra.Command {
	o := &initFlags{}
	cmd := &cobra.Command{
		Use:   "init [KIND]",
		Short: "print a scenario to begin with",
		Long: "Init prints a commented scenario for a kind of collective (all_reduce) on any network " +
			"of collsim list topologies, on nodes of GPUs, or on a machine by name. Its letters are " +
			"those of nccl-tests; 1M is 1 MiB, as there.",
		Example: "  collsim init > mine.toml\n" +
			"  collsim init all_gather -b 8 -e 1G -f 2 --ranks 16 | collsim -\n" +
			"  collsim init --topology torus --shape 4x4\n" +
			"  collsim init --nodes 4 --node full-mesh --network rails\n" +
			"  collsim init --machine dgx-h100 --nodes 4",
		ValidArgs: kindNames(),
		RunE:      func(_ *cobra.Command, args []string) error { return a.init(args, o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.from, "minbytes", "b", "1M", "least `SIZE`")
	f.StringVarP(&o.to, "maxbytes", "e", "", "greatest `SIZE`, if there is more than one")
	f.IntVarP(&o.factor, "stepfactor", "f", 2, "`FACTOR` between sizes")
	f.StringVarP(&o.dtype, "datatype", "d", "float", "`TYPE` of an element")
	f.StringVarP(&o.op, "op", "o", "sum", "`OP` of a kind that reduces")
	f.IntVarP(&o.root, "root", "r", 0, "root `RANK` of a kind that has one")
	o.network.register(f)
	f.StringVar(&o.algorithm, "algorithm", "", "`NAME` of the algorithm; see collsim list algorithms")
	f.SortFlags = false
	return cmd
}

// init prints a scenario that loads as it is.
func (a *app) init(args []string, o *initFlags) error {
	kind := "all_reduce"
	if len(args) > 1 {
		return &usageError{Text: fmt.Sprintf("one kind is expected, not %d", len(args))}
	}
	if len(args) == 1 {
		kind = args[0]
	}
	var err error
	if o.kind, err = collective.ParseKind(kind); err != nil {
		return kindError(kind)
	}
	names := algorithmsOf(o.kind)
	switch {
	case len(names) == 0:
		return &usageError{Text: fmt.Sprintf("no algorithm computes %v yet", o.kind),
			Hint: "kinds with algorithms: collsim list algorithms"}
	case o.algorithm == "" && slices.Contains(names, "ring"):
		o.algorithm = "ring"
	case o.algorithm == "":
		o.algorithm = names[0]
	}
	if err := o.network.complete(); err != nil {
		return err
	}
	text := o.scenario(names)
	known := slices.Concat([]string{"all", "fastest"}, names)
	if name := nameIn(o.algorithm); !strings.Contains(name, ":") && !slices.Contains(known, name) {
		e := &usageError{Text: fmt.Sprintf("--algorithm %q: no %v algorithm of that name", o.algorithm,
			o.kind), Hint: "there are " + firstOf(names)}
		if library := libraryNames(o.algorithm, o.kind); len(library) > 0 {
			e.Hint = "of that library there are " + strings.Join(library, ", ")
		} else if near := nearest.To(o.algorithm, known, 1); len(near) > 0 {
			e.Hint = fmt.Sprintf("did you mean %q?", near[0])
		}
		return e
	}
	if _, err := run.Load("collsim init", []byte(text), run.LoadOptions{}); err != nil {
		return err
	}
	a.printData([]byte(text))
	return nil
}

// nameIn returns an algorithm's name, without its parameters, as a scenario takes it.
func nameIn(algorithm string) string {
	name, _, _ := strings.Cut(algorithm, "(")
	return strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// libraryNames returns what a library by name has for a kind: of "nccl" nccl:auto, nccl:ring, ….
func libraryNames(library string, kind collective.Kind) (names []string) {
	for _, al := range run.Algorithms() {
		if al.Does(kind) && strings.HasPrefix(al.Name, strings.ToLower(library)+":") {
			names = append(names, al.Name)
		}
	}
	return names
}

// listed bounds the names of algorithms in an error.
const listed = 8

// firstOf lists names of algorithms, of many the first and where to find the others.
func firstOf(names []string) string {
	if len(names) <= listed {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:listed], ", ") + ", …: collsim list algorithms"
}

// algorithmsOf returns the names that "all" stands for, the best known ones first.
func algorithmsOf(kind collective.Kind) (names []string) {
	for _, al := range append(algos.ForKind(kind), algos.FurtherFor(kind)...) {
		names = append(names, al.Name)
	}
	return names
}

// scenario writes the scenario; names are the kind's algorithms.
func (o *initFlags) scenario(names []string) string {
	var b strings.Builder
	line := func(key, value, remark string) {
		text := key + " = " + value
		if remark != "" {
			text = fmt.Sprintf("%-26s # %s", text, remark)
		}
		b.WriteString(text + "\n")
	}
	b.WriteString("# A scenario for collsim. All keys: docs/scenario.md, or collsim list keys.\n\n")
	line("name", fmt.Sprintf("%q", fmt.Sprintf("%v on %d ranks", o.kind, o.network.ranks)), "")
	o.network.write(func(header string) { b.WriteString("\n" + header + "\n") }, line)
	b.WriteString("\n[[collective]]\n")
	line("kind", quoted(o.kind.String()), "")
	line("algorithm", quoted(o.algorithm), remark(names))
	if o.kind != collective.Barrier { // which moves nothing
		o.sizes(line)
		line("dtype", quoted(o.dtype), "")
	}
	if o.kind.Reduces() {
		line("op", quoted(o.op), "")
	}
	if o.kind.Rooted() {
		line("root", fmt.Sprint(o.root), "")
	}
	return b.String()
}

// remark lists names as far as a line takes them; a list of them makes a run for each.
func remark(names []string) string {
	text := "or a list of " + strings.Join(names, ", ")
	if len(text) > 70 {
		text = text[:strings.LastIndex(text[:66], ",")] + ", …"
	}
	return text
}

// sizes writes bytes, or for kinds that have them splits: one row of blocks for each sender.
func (o *initFlags) sizes(line func(key, value, remark string)) {
	if o.kind.Splits() {
		row := "[" + strings.TrimSuffix(strings.Repeat("1024, ", max(o.network.ranks, 0)), ", ") + "]"
		rows := max(o.network.ranks, 0)
		if o.kind != collective.AllToAllV {
			rows = 1
		}
		all := strings.TrimSuffix(strings.Repeat("  "+row+",\n", rows), ",\n")
		line("splits", "[\n"+all+",\n]", "")
		return
	}
	const meaning = "nccl-tests' size; rounded down where the kind cannot divide it"
	if o.to == "" {
		line("bytes", quoted(size(o.from)), meaning)
		return
	}
	line("bytes", fmt.Sprintf("{ from = %s, to = %s, factor = %d }", quoted(size(o.from)),
		quoted(size(o.to)), o.factor), "")
}

// letters matches the sizes of nccl-tests.
func letters() *regexp.Regexp { return regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kKmMgG]?)$`) }

// size turns a size of nccl-tests, where K, M and G are powers of 1024, into ours.
func size(text string) string {
	m := letters().FindStringSubmatch(text)
	switch {
	case m == nil:
		return text
	case m[2] == "":
		return m[1] + " B"
	}
	return m[1] + " " + strings.ToUpper(m[2]) + "iB"
}

// quoted returns a text as a string of TOML.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
