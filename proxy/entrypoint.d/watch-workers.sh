#!/bin/sh
# Nginx counts the open requests of a killed worker forever: with every death there would be less capacity. So the
# container ends, and its restart policy starts it again; open requests have two seconds to finish.
set -eu

# workers: the folders of their processes in /proc, a line each.
workers() { grep -l '^nginx: worker' /proc/[0-9]*/cmdline 2>/dev/null; }

watch() {
  set +e
  until known=$(workers) && [ "$(echo "$known" | wc -l)" -eq "$WORKERS" ]; do sleep 0.1; done
  # Until there is one that is not known. While Nginx stops, there are only fewer.
  until workers | grep -qvxF "$known"; do sleep 2; done
  echo "culvert proxy: a worker of Nginx has died: the container ends, to start again"
  kill -QUIT 1
  sleep 2
  kill -TERM 1
}
watch &
