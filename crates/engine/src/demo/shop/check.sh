#!/bin/sh
# Looks over the files of the shop: each says what it is for, and none has very long lines.
ok=$(printf '\033[32mok\033[0m')
bad=$(printf '\033[31mnot ok\033[0m')
status=0
for file in src/*.js; do
  if ! head -n 1 "$file" | grep -q '^// '; then
    echo "$bad $file does not say what it is for"
    status=1
  elif grep -q '.\{121\}' "$file"; then
    echo "$bad $file has a line that is too long"
    status=1
  else
    echo "$ok $file"
  fi
done
exit $status
