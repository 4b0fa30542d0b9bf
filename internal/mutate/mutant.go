package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// A mutant is a change of one place of a file: the text between two offsets is replaced.
type mutant struct {
	file     string
	line     int
	from, to int // byte offsets
	was, is  string
}

// String formats the change, as in "grid.go:139: < becomes <=".
func (m mutant) String() string {
	is := m.is
	if is == "{}" {
		is = "nothing"
	}
	return fmt.Sprintf("%s:%d: %s becomes %s", m.file, m.line, oneLine(m.was), oneLine(is))
}

// oneLine returns the first line of a text.
func oneLine(text string) string {
	for i, r := range text {
		if r == '\n' || i > 50 {
			return text[:i] + "…"
		}
	}
	return text
}

// apply applies the change to the text of the file.
func (m mutant) apply(text []byte) []byte {
	return append(append(append([]byte{}, text[:m.from]...), m.is...), text[m.to:]...)
}

// swaps maps operators to their replacements.
func swaps() map[token.Token]string {
	return map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
		token.REM: "*", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
		token.EQL: "!=", token.NEQ: "==", token.LAND: "||", token.LOR: "&&", token.AND: "|",
		token.OR: "&", token.SHL: ">>", token.SHR: "<<", token.INC: "--", token.DEC: "++",
		token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*="}
}

// names maps names to their replacements.
func names() map[string]string {
	return map[string]string{"min": "max", "max": "min", "true": "false", "false": "true"}
}

// mutantsOf lists the mutants of a file in order: another operator, an incremented or negated
// constant, a negated condition, min for max, and a removed statement.
func mutantsOf(name string, text []byte) ([]mutant, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []mutant
	add := func(pos, end token.Pos, is string) {
		from, to := set.Position(pos).Offset, set.Position(end).Offset
		list = append(list, mutant{name, set.Position(pos).Line, from, to, string(text[from:to]), is})
	}
	operator := func(at token.Pos, op token.Token) {
		if is := swaps()[op]; is != "" {
			add(at, at+token.Pos(len(op.String())), is)
		}
	}
	opposite := func(cond ast.Expr) {
		if cond != nil {
			from, to := set.Position(cond.Pos()).Offset, set.Position(cond.End()).Offset
			add(cond.Pos(), cond.End(), "!("+string(text[from:to])+")")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			operator(n.OpPos, n.Op)
		case *ast.IncDecStmt:
			operator(n.TokPos, n.Tok)
		case *ast.AssignStmt:
			if operator(n.TokPos, n.Tok); n.Tok != token.DEFINE {
				add(n.Pos(), n.End(), "{}")
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				add(n.OpPos, n.OpPos+1, "")
			}
		case *ast.IfStmt:
			opposite(n.Cond)
		case *ast.BasicLit:
			if v, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
				add(n.Pos(), n.End(), strconv.FormatInt(v+1, 10))
			} else if n.Kind == token.FLOAT {
				add(n.Pos(), n.End(), "("+n.Value+" + 1)")
			}
		case *ast.Ident:
			if is := names()[n.Name]; is != "" {
				add(n.Pos(), n.End(), is)
			}
		case *ast.ExprStmt:
			add(n.Pos(), n.End(), "{}")
		}
		return true
	})
	return list, nil
}
