package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
)

// noFused finds sums and differences of floats of which an operand is a product that no conversion
// rounds. The language allows x*y + z to be computed with one rounding, also when the product was
// put into a variable before ("Floating-point operators" in the Go specification).
func noFused(s *source) (found []finding) {
	if !within(s.path, rounded()...) {
		return nil
	}
	products := s.productVariables()
	bare := func(e ast.Expr) bool {
		e = unsigned(e)
		if id, ok := e.(*ast.Ident); ok {
			return products[s.info.ObjectOf(id)]
		}
		return s.isProduct(e)
	}
	s.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.ADD || n.Op == token.SUB) && s.isFloat(n) && (bare(n.X) || bare(n.Y)) {
				found = append(found, s.at(n, "sum with a product"))
			}
		case *ast.AssignStmt:
			sum := n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN
			if sum && s.isFloat(n.Lhs[0]) && (bare(n.Lhs[0]) || bare(n.Rhs[0])) {
				found = append(found, s.at(n, "sum with a product"))
			}
		}
	})
	return found
}

// productVariables returns the variables to which a product is assigned somewhere.
func (s *source) productVariables() map[types.Object]bool {
	products := map[types.Object]bool{}
	note := func(left, right ast.Expr) {
		id, ok := ast.Unparen(left).(*ast.Ident)
		if ok && id.Name != "_" && s.isProduct(unsigned(right)) {
			products[s.info.ObjectOf(id)] = true
		}
	}
	s.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.MUL_ASSIGN && s.isFloat(n.Lhs[0]) {
				if id, ok := ast.Unparen(n.Lhs[0]).(*ast.Ident); ok {
					products[s.info.ObjectOf(id)] = true
				}
			}
			stores := n.Tok == token.ASSIGN || n.Tok == token.DEFINE
			for i := range n.Lhs {
				if stores && len(n.Lhs) == len(n.Rhs) {
					note(n.Lhs[i], n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i := range n.Values {
				if len(n.Names) == len(n.Values) {
					note(n.Names[i], n.Values[i])
				}
			}
		}
	})
	return products
}

// unsigned takes parentheses and signs off, which do not round.
func unsigned(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.SUB && x.Op != token.ADD {
				return e
			}
			e = x.X
		default:
			return e
		}
	}
}

// isProduct reports whether e multiplies floats when the program runs.
func (s *source) isProduct(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && b.Op == token.MUL && s.isFloat(b)
}

// isFloat reports whether e is a float or a complex number, or may be one where it has the type of
// a parameter, and is no constant.
func (s *source) isFloat(e ast.Expr) bool {
	tv := s.info.Types[e]
	if id, ok := e.(*ast.Ident); ok && tv.Type == nil {
		if o := s.info.ObjectOf(id); o != nil {
			return floating(o.Type())
		}
	}
	return tv.Type != nil && tv.Value == nil && floating(tv.Type)
}

func floating(t types.Type) bool {
	const floats = types.IsFloat | types.IsComplex
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&floats != 0
	case *types.Interface: // the constraint of a type parameter
		for i := range u.NumEmbeddeds() {
			if floating(u.EmbeddedType(i)) {
				return true
			}
		}
	case *types.Union:
		for i := range u.Len() {
			if floating(u.Term(i).Type()) {
				return true
			}
		}
	}
	return false
}
