# shellcheck shell=sh
# Which program or container uses a TCP port of this machine. Sourced after lib.sh, in the repository's root.

# port_is_taken PORT: whether a program listens on PORT, or a container publishes it.
port_is_taken() {
  if [ -n "$(port_containers "$1" .Names)" ]; then return 0; fi
  if [ -r /proc/net/tcp ]; then
    # Column 2 is address:port in hexadecimal, column 4 the state; 0A is LISTEN.
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
      awk -v port="$(printf '%04X' "$1")" '$4 == "0A" && $2 ~ ":" port "$" { found = 1 } END { exit !found }'
  else
    nc -z -w 1 127.0.0.1 "$1" >/dev/null 2>&1
  fi
}

# port_is_ours PORT: whether this compose project publishes PORT.
port_is_ours() {
  port_project=$(port_containers "$1" '.Label "com.docker.compose.project"')
  [ -n "$port_project" ] || return 1
  project=$(project_name)
  [ "$port_project" = "$project" ]
}

# port_owner PORT: prints " by container NAME" if a container publishes PORT.
port_owner() {
  port_name=$(port_containers "$1" .Names)
  [ -z "$port_name" ] || printf ' by container %s' "$port_name"
}

# port_containers PORT FIELD: prints FIELD of the running container that publishes PORT, if any.
port_containers() {
  has docker || return 0
  docker ps --filter "publish=$1" --format "{{$2}}" 2>/dev/null | head -n 1
}

# project_name: prints the compose project's name. A caller that assigns it to `project` has compose read its files once, not each time.
project=
project_name() { if [ -n "$project" ]; then echo "$project"; else docker compose config 2>/dev/null | sed -n 's/^name: //p'; fi; }

# is_open CONTAINER: whether a proxy has its ports, if it is to publish any.
is_open() { [ -n "$(docker port "$1" 8443 2>/dev/null)" ] || [ "$(docker inspect --format '{{len .HostConfig.PortBindings}}' "$1")" = 0 ]; }
