#!/bin/sh
# Puts back what backup.sh has written, into a clone without a stack. Then run make up. Usage: FILE=x.tar restore.sh
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
umask 077

[ -r "${FILE:-}" ] || die "FILE: '${FILE:-}' cannot be read: give the file that make backup has written"
deploy/bare-machine/machine.sh >/dev/null
image=$(tools_image)
[ ! -e .env ] || die "restore: there is a .env already: move it away, the backup has one"
in_tar() { docker run --rm --interactive --network none --user 0:0 --entrypoint tar "$@" <"$FILE"; }
{ list=$(in_tar "$image" -tf - 2>/dev/null) && echo "$list" | grep -qx './volumes/spool/'; } ||
  die "FILE: $FILE is no backup, or not a whole one: copy it again, or make another (make backup)"
# unpack FOLDER OPTION...: unpacks this folder of the backup.
unpack() {
  folder=$1
  shift
  in_tar "$@" "$image" -xpf - -C /backup "./$folder"
}
unpack files --volume "$PWD:/backup/files"
project=$(project_name)
[ -z "$(docker ps --all --quiet --filter "label=com.docker.compose.project=$project")" ] ||
  die "restore: a stack $project is here already: run make down first"
set --
for volume in spool certificates acme proxy; do
  docker volume create --label "com.docker.compose.project=$project" --label "com.docker.compose.volume=$volume" \
    "${project}_$volume" >/dev/null
  set -- "$@" --volume "${project}_$volume:/backup/volumes/$volume"
done
unpack volumes "$@"
say "    restored: run make up"
