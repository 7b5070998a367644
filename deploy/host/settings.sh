# shellcheck shell=sh
# Reads a setting as compose does. Sourced after lib.sh, with `root` set to the repository.

# setting NAME [DEFAULT]: prints NAME's value from the shell, else from .env, else DEFAULT.
setting() {
  eval "setting_given=\${$1+yes} setting_value=\${$1-}"
  setting_file=${COMPOSE_ENV_FILES:-$root/.env}
  if [ -z "$setting_given" ] && [ -r "$setting_file" ]; then
    setting_value=$(tr -d '\r' <"$setting_file" |
      sed -n "s/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}$1[[:space:]]*=[[:space:]]*//p" | tail -n 1 |
      sed -e 's/^"\([^"]*\)".*$/\1/' -e t -e "s/^'\([^']*\)'.*$/\1/" -e t -e 's/[[:space:]]\{1,\}#.*$//' -e 's/[[:space:]]*$//')
  fi
  printf '%s\n' "${setting_value:-${2:-}}"
}

# export_build_files: exports the paths of two build secrets for compose: the extra CA, and the key that all builds share. With the
# containerd image store, a default attestation would give each build another image id, and unchanged containers would be replaced
# (https://github.com/docker/compose/issues/14111).
export_build_files() {
  export BUILDX_NO_DEFAULT_ATTESTATIONS=1
  BUILD_CA_FILE=$(setting BUILD_CA_FILE "$("$root/deploy/host/build-ca.sh")")
  SERVER_ACTIONS_KEY_FILE=$(setting SERVER_ACTIONS_KEY_FILE "$("$root/deploy/host/server-actions-key.sh")")
  export BUILD_CA_FILE SERVER_ACTIONS_KEY_FILE
}
