/** Takes an ISO timestamp and returns it in a readable form, to the second and with its time zone. */
export function utc(iso: string): string {
  return iso.replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

/** Takes milliseconds since 1970 and returns the time of day: `10:41:07 UTC`. */
export function clock(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
}

const UNITS: [name: string, seconds: number][] = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
];

/** Takes seconds and returns them in the two largest units: `3 d 4 h`, `12 s`. */
export function duration(seconds: number): string {
  let rest = Math.floor(seconds);
  const parts = UNITS.map(([name, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return { count, text: `${count} ${name}` };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ text }) => text)
    .join(" ");
}
