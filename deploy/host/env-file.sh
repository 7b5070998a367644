# shellcheck shell=sh
# Reads and writes the files with the settings: .env, or those of COMPOSE_ENV_FILES.

# env_file NAME: prints the file that sets NAME: the last one that does, as compose reads them, else the first one.
env_file() (
  IFS=, found=''
  for file in ${COMPOSE_ENV_FILES:-.env}; do
    if [ -z "$found" ] || grep -qs "$(assigned "$1")" "$file"; then found=$file; fi
  done
  echo "$found"
)

is_saved() { grep -qs "$(assigned "$1")" "$(env_file "$1")"; }

# write_setting NAME VALUE: sets NAME in its file. VALUE has no single quote.
write_setting() {
  file=$(env_file "$1")
  case $2 in *[!A-Za-z0-9_.,:/@+-]*) line="$1='$2'" ;; *) line="$1=$2" ;; esac
  if is_saved "$1"; then
    cp -p "$file" "$file.new"
    replacement=$(printf '%s\n' "$line" | sed 's/[\\|&]/\\&/g')
    sed "s|$(assigned "$1").*|\1$replacement|" "$file" >"$file.new"
    mv "$file.new" "$(readlink -f "$file")"
  else
    # A last line without an end must not swallow it.
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo >>"$file"
    printf '%s\n' "$line" >>"$file"
  fi
  say "    $line in $file"
}

# saved NAME: prints its value in these files. save NAME VALUE: writes another value.
saved() (unset "$1"; setting "$1" '')
save() { [ "$(saved "$1")" = "$2" ] || write_setting "$1" "$2"; }

# say_unread: names what .env sets and nothing reads.
say_unread() {
  unread=$(unread_names | tr '\n' ' ')
  [ -z "$unread" ] || say "    nothing reads $unread(in $(env_file COMPOSE_FILE)): docs/settings.md has every setting"
}

# say_unsaved: names the settings of this shell that no file has.
say_unsaved() {
  unsaved=$(for name in $(compose_settings); do
    eval "[ -z \"\${$name:-}\" ]" || is_saved "$name" || printf ' %s' "$name"
  done)
  [ -z "$unsaved" ] || say "    only in this shell:$unsaved (put what is to last into $(env_file COMPOSE_FILE))"
}
