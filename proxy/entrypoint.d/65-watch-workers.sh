#!/bin/sh
# Nginx counts the open requests of a killed worker forever, and there would be less capacity with every death. So the container ends, and
# its restart policy starts it again; open requests have two seconds to finish. Nothing else replaces a worker: nothing reloads Nginx.
set -eu

# workers: the folders of their processes in /proc, separated by spaces.
# shellcheck disable=SC2005,SC2046 # one line
workers() { echo $(grep -l '^nginx: worker' /proc/[0-9]*/cmdline 2>/dev/null); }

# has_new KNOWN: whether there is a worker that is not among these. While Nginx stops, there are only fewer.
has_new() (
  for worker in $(workers); do
    case " $1 " in *" $worker "*) ;; *) return 0 ;; esac
  done
  return 1
)

watch() {
  set +e
  all=$(sed -n 's/^worker_processes \(.*\);/\1/p' "$RENDERED/main.conf")
  until known=$(workers) && [ "$(echo "$known" | wc -w)" -eq "$all" ]; do sleep 0.1; done
  until has_new "$known"; do sleep 2; done
  echo "culvert proxy: a worker of Nginx has died: the container ends, to start again"
  kill -QUIT 1
  sleep 2
  kill -TERM 1
}
watch &
