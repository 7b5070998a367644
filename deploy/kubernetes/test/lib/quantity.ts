const units: Record<string, number> = { "": 1, k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** The bytes of a Kubernetes quantity such as 512Mi. Throws if it is not one. */
export function bytes(quantity: string | number): number {
  const [, number, unit = ""] = /^(\d+)(|k|M|G|Ki|Mi|Gi)$/.exec(String(quantity)) ?? [];
  if (!number) throw new Error(`${quantity} is not a number of bytes`);
  return Number(number) * (units[unit] as number);
}

/** The bytes of a compose quantity such as 512m, whose units are powers of 1024. */
export function composeBytes(quantity: string): number {
  return bytes(quantity.replace(/([kmg])$/i, (unit) => `${unit.toUpperCase()}i`));
}
