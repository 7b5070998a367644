// What an empty setting means: written by `make settings`.
export const defaults = {
  SPOOL_MAX_MB: "512",
  SPOOL_MAX_AGE: "3d",
  SPOOL_RATE: "500",
};
