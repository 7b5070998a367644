/** Takes an ISO timestamp and returns it as people read it, to the second and with its zone. */
export function utc(iso: string): string {
  return iso.replace("T", " ").replace(/\.\d+Z$/, " UTC");
}
