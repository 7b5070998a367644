// What an empty setting means: written by `make settings`.
export const defaults = {
  CONSOLE: "on",
};
