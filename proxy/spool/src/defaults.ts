// Written by `make settings` from deploy/settings/settings.json.

/** What an empty setting means. */
export const defaults = {
  SPOOL_MAX_MB: "512",
  SPOOL_MAX_AGE: "3d",
  SPOOL_RATE: "500",
};
