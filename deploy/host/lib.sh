# shellcheck shell=sh
# shellcheck source=../lib.sh
. deploy/lib.sh
