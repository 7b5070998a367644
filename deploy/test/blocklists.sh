#!/bin/sh
# Prints the folder with uBlock Origin's lists, from Debian's package, which is downloaded and not installed; prints
# nothing if that fails.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/bare-machine/apt.sh

package=webext-ublock-origin-chromium
folder=$PWD/.culvert/$package
assets=$folder/usr/share/chromium/extensions/ublock-origin/assets
if [ ! -d "$assets" ]; then
  if ! has apt-get || ! has dpkg-deb; then exit 0; fi
  mkdir -p .culvert
  work=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  log=$work/log
  download() { (cd "$work" && apt_quiet "$log" download "$package"); }
  download || { is_root && apt_quiet "$log" update && download; } || { say "$package: $(tail -n 1 "$log")" && exit 0; }
  dpkg-deb -x "$work/$package"_*.deb "$work/unpacked"
  # Another run may have been faster.
  mv -T "$work/unpacked" "$folder" 2>/dev/null || true
fi
printf '%s\n' "$assets"
