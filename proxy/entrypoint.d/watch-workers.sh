#!/bin/sh
# Nginx counts the open requests of a killed worker forever: with every death there would be less capacity. So the
# container ends, and its restart policy starts it again; open requests have two seconds to finish.
set -eu

# workers: the folders of their processes in /proc, a line each.
workers() { grep -l '^nginx: worker' /proc/[0-9]*/cmdline 2>/dev/null; }

watch() {
  set +e
  # shellcheck disable=SC2086 # a list
  until known=$(workers) && set -- $known && [ $# -eq "$WORKERS" ]; do sleep 0.1; done
  # Until there is one that is not known. While Nginx stops, there are only fewer. While all are there, no process but
  # sleep starts.
  while :; do
    sleep 2
    for worker; do
      [ -e "$worker" ] || ! workers | grep -qvxF "$known" || break 2
    done
  done
  echo "culvert proxy: a worker of Nginx has died: the container ends, to start again"
  kill -QUIT 1
  sleep 2
  kill -TERM 1
}
watch &
