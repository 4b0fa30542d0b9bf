package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collsim/run"
)

// manCommand writes manual pages. It is for who packs collsim, and not listed.
func manCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "write a manual page for each command into a folder",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{Text: "one folder is expected", Hint: "for example: collsim man man1"}
			}
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return fileError(args[0], err)
			}
			for _, c := range append([]*cobra.Command{cmd.Root()}, cmd.Root().Commands()...) {
				if c.Hidden {
					continue
				}
				name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
				if err := writeFile(filepath.Join(args[0], name), []byte(manPage(c))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// manPage returns the manual page of a command in the macros of man(7).
func manPage(c *cobra.Command) string {
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	var b strings.Builder
	section := func(title, text string) {
		b.WriteString(".SH " + title + "\n" + text)
	}
	b.WriteString(".TH " + strings.ToUpper(roff(name)) + ` 1 "" "collsim ` + run.Version +
		"\" \"collsim\"\n.nh\n")
	section("NAME", roff(name)+" \\- "+roff(c.Short)+"\n")
	choices := strings.ReplaceAll(roff(c.UseLine()), "|", `|\:`) // where the line may break
	section("SYNOPSIS", choices+"\n")
	if !c.HasParent() {
		section("DESCRIPTION", ".nf\n"+roff(helpText)+".fi\n")
	} else if c.Long != "" {
		section("DESCRIPTION", roff(c.Long)+"\n")
	}
	if flags := manFlags(c.LocalFlags()); flags != "" {
		section("OPTIONS", flags)
	}
	if c.Example != "" {
		section("EXAMPLES", ".nf\n"+roff(c.Example)+"\n.fi\n")
	}
	if !c.HasParent() {
		section("EXIT STATUS", "0 all is well, 1 a check failed, 2 wrong input or usage, 3 not "+
			"available here, 4 a bug, 5 an output lost, 130 interrupted.\n")
	}
	section("SEE ALSO", manOthers(c))
	return b.String()
}

// manFlags returns a paragraph for each flag.
func manFlags(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		line := "--" + f.Name
		if f.Shorthand != "" {
			line = "-" + f.Shorthand + ", " + line
		}
		if value != "" {
			line += " " + value
		}
		b.WriteString(".TP\n\\fB" + roff(line) + "\\fR\n" + roff(usage) + "\n")
	})
	return b.String()
}

// manOthers names the pages of the other commands.
func manOthers(c *cobra.Command) string {
	if c.HasParent() {
		return "collsim(1)\n"
	}
	var pages []string
	for _, other := range c.Commands() {
		if !other.Hidden {
			pages = append(pages, roff("collsim-"+other.Name())+"(1)")
		}
	}
	return strings.Join(pages, ", ") + "\n"
}

// roff escapes a text for man(7): backslashes, hyphens, and what would be a request where a line
// begins.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
