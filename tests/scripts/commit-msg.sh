#!/bin/sh
# commit-msg.sh HOOK
# The hook accepts messages of the house style and refuses the others.
set -eu
hook=$1
message=$(mktemp)
trap 'rm -f "$message"' EXIT

refuses() { # ERROR MESSAGE
  printf "$2" >"$message"
  ! error=$("$hook" "$message" 2>&1) && [ "$error" = "commit-msg: $1" ] && return
  echo "commit-msg: '$2' gives '$error', not '$1'" >&2
  exit 1
}
accepts() {
  printf "$1" >"$message"
  "$hook" "$message"
}

accepts 'Name what is wrong\n\nWhy.\n'
accepts '# of the editor\nName what is wrong\n'
accepts "$(printf '%072d' 0)\n"
refuses 'the subject has 73 characters, at most 72 are allowed' "$(printf '%073d' 0)\n"
refuses 'the subject ends with a period' 'Name what is wrong.\n'
refuses 'the line after the subject is not empty' 'Name what is wrong\nWhy.\n'
