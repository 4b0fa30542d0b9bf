package collsim

import _ "embed"

//go:embed NOTICE
var notice string

// Notice returns the licences of all that the command contains.
func Notice() string { return notice }
