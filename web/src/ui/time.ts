/** Takes an ISO timestamp and returns it in a readable form, to the second and with its time zone. */
export function utc(iso: string): string {
  return iso.replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

/** Takes milliseconds since 1970 and returns the time of day: `10:41:07 UTC`. */
export function clock(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
}

/** Takes seconds and returns them in the two largest units: `3 d 4 h`, `12 s`. */
export function duration(seconds: number): string {
  const [s, min, h] = [1, 60, 3_600].map((size) => Math.floor(seconds / size)) as [number, number, number];
  const units = Object.entries({ d: Math.floor(h / 24), h: h % 24, min: min % 60, s: s % 60 });
  const first = units.findIndex(([, count]) => count > 0);
  const shown = units.slice(first, first + 2).filter(([, count]) => count > 0);
  return first < 0 ? "0 s" : shown.map(([name, count]) => `${count} ${name}`).join(" ");
}
