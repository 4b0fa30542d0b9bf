#!/usr/bin/env bash
# Rewrites the module's path everywhere: go get takes only a path that begins with a domain.
#
#   tools/release/rename.sh example.org/collsim
set -euo pipefail
fresh=${1:?usage: tools/release/rename.sh MODULE}
cd "$(dirname "$0")/../.."
old=$(sed -n 's/^module //p' go.mod)
if ! printf %s "$fresh" | grep -Eqx '[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+'; then
	echo "rename: $fresh: a domain and a path are expected, such as example.org/collsim" >&2
	exit 2
fi
each() { git ls-files -z -- "$1" | xargs -0 perl -pi -e "BEGIN { \$old = q($old); \$new = q($fresh) } $2"; }
# Paths below the module, the module where it is imported by itself, and the checks that name it.
each '*.go' 's{(["`])\Q$old\E/}{$1$new/}g; s{^(\s*(?:import )?(?:\w+ )?)"\Q$old\E"$}{$1"$new"}'
each 'internal/tidy/*.go' 's{"\Q$old\E"}{"$new"}g'
each '*.md' 's{(["`])\Q$old\E/(?=[a-z/]+")}{$1$new/}g; s{^(\s*)"\Q$old\E"$}{$1"$new"}'
each '*go.mod' 's{(?<![\w./-])\Q$old\E(?=[\s/])}{$new}g unless m{^//}'
gofmt -w .
echo "renamed $old to $fresh"
