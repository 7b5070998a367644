const units: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** The bytes of a Kubernetes quantity such as 512Mi. Throws if it is not one. */
export function bytes(quantity: string): number {
  const [, number, unit = ""] = /^(\d+)([KMG]i)$/.exec(quantity) ?? [];
  if (!number) throw new Error(`${quantity} is not a number of bytes`);
  return Number(number) * (units[unit] ?? 1);
}
