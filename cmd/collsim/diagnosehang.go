package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"collsim/collective/calls"
	"collsim/formats/dumps"
	"collsim/internal/input"
	"collsim/page"
	"collsim/report"
)

// ofHang reports whether arguments are dumps, rather than a log and a scenario.
func ofHang(args []string) bool {
	return len(args) > 0 && !slices.ContainsFunc(args, func(name string) bool {
		return name == "-" || strings.HasPrefix(name, "example:") || filepath.Ext(name) == ".toml"
	})
}

// hang prints why the ranks wait that dumps are of.
func (o *diagnoseFlags) hang(cmd *cobra.Command, a *app, args []string) error {
	if flag := changed(cmd.Flags(), "csv", "curves", "with", "set", "only"); flag != "" {
		return &usageError{Text: "--" + flag + " is for a log and a scenario; no scenario is given",
			Hint: "for example: collsim diagnose slow.log cluster.toml"}
	}
	if err := claimPage(a, o.report); err != nil {
		return err
	}
	files, err := dumpFiles(a, args)
	if err != nil {
		return err
	}
	d, err := dumps.Read(files)
	if err != nil {
		return err
	}
	j := d.Judge()
	if o.json {
		text, err := report.HangJSON(d, j)
		if err != nil {
			return err
		}
		a.printJSON(a.out, text)
	} else {
		a.print(a.out, report.HangText(d, j))
	}
	if o.report != "" {
		if err := writePageFile(o.report, hangPage(a, d, j)); err != nil {
			return err
		}
	}
	if len(j.Findings) > 0 {
		return errFailed
	}
	return nil
}

// hangPage makes the page of a hang.
func hangPage(a *app, d *dumps.Dump, j *calls.Judgement) *page.Page {
	p := &page.Page{Title: "Who waits for whom", Lead: d.Form, Notes: d.Notes, Repeat: repeat(a)}
	texts, bad := report.HangVerdicts(d, j)
	for _, text := range texts {
		p.Verdicts = append(p.Verdicts, page.Verdict{Bad: bad, Text: text})
	}
	p.Parts = []page.Part{{Title: "In a terminal", Text: report.HangText(d, j)},
		tablePart("Ranks", page.Table{Columns: report.HangGrid(d, j)})}
	return p
}

// dumpFiles finds the files that arguments stand for: each of one rank, if its name has a number.
func dumpFiles(a *app, args []string) (files []dumps.Source, err error) {
	var names []string
	for _, arg := range args {
		some, err := dumpNames(arg)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	for _, name := range names {
		files = append(files, dumps.Source{Name: name, Rank: rankIn(name, len(names) > 1),
			Read: func() ([]byte, error) { return readDump(a, name) }})
	}
	slices.SortStableFunc(files, func(x, y dumps.Source) int { return cmp.Compare(x.Rank, y.Rank) })
	return files, nil
}

// readDump reads a file, and unpacks one that is gzipped.
func readDump(a *app, name string) ([]byte, error) {
	text, err := a.readFile(name)
	if err == nil && input.Gzipped(text) {
		var plain *input.Reader
		if plain, err = a.limit(0).Unpacked(bytes.NewReader(text)); err == nil {
			text, err = a.limit(0).All(plain)
		}
	}
	if err != nil {
		return nil, fileError(name, err)
	}
	return text, nil
}

// dumpNames lists the files of a directory, of a pattern, or of a name with {rank} for which some
// may be absent.
func dumpNames(arg string) (names []string, err error) {
	pattern := strings.ReplaceAll(arg, rankInName, "*")
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		pattern = filepath.Join(arg, "*")
	case err == nil || !strings.ContainsAny(pattern, "*?["):
		return []string{arg}, nil
	}
	if names, err = filepath.Glob(pattern); err != nil {
		return nil, &usageError{File: arg, Text: "it is no pattern of file names"}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.IsDir() || strings.Contains(arg, rankInName) && rankIn(name, true) < 0
	})
	if len(names) == 0 {
		return nil, &usageError{File: arg, Text: "no file has such a name"}
	}
	return names, nil
}

var (
	rankWord    = regexp.MustCompile(`rank[_.-]?(\d+)`)
	rankBetween = regexp.MustCompile(`\.(\d+)(\.[a-z]+)*$`)
	rankNumber  = regexp.MustCompile(`(\d+)\D*$`)
)

// rankIn returns the rank that a file name has: behind "rank", between dots or, of several files,
// the last number of the name. It is −1 if there is none.
func rankIn(name string, several bool) int {
	base := strings.ToLower(strings.TrimSuffix(filepath.Base(name), ".gz"))
	m := rankWord.FindStringSubmatch(base)
	if m == nil {
		m = rankBetween.FindStringSubmatch(base)
	}
	if m == nil && several {
		m = rankNumber.FindStringSubmatch(base)
	}
	if m == nil {
		return -1
	}
	rank, err := strconv.Atoi(m[1])
	if err != nil || rank >= 1<<16 {
		return -1
	}
	return rank
}
