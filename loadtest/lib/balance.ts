/**
 * Uniqueness across virtual users, which in k6 share no memory but metrics: each id adds +1 or −1, by its own bits, to one
 * of a few shared counters. Ids that differ cancel out; an id handed to many visitors always pushes one way.
 */
export const SLOTS = 32;

/** Chance per run that ids which all differ raise the alarm. */
export const FALSE_ALARM = 1e-9;

/** Which counter an id moves and which way, from its last 32 bits: the fixed bits of a version 4 UUID are further left. */
export function balanceOf(id: string): { slot: number; step: 1 | -1 } {
  const bits = Number.parseInt(id.slice(-8), 16);
  return { slot: bits % SLOTS, step: (bits / SLOTS) & 1 ? 1 : -1 };
}

/**
 * How far from zero a counter may stray after that many visits before ids must have been shared.
 *
 * Bernstein's inequality for steps of ±1, each with probability 1/(2·SLOTS), over all slots and both signs:
 * 2·SLOTS·exp(−T²/(2(v+T/3))) = FALSE_ALARM with v = visits/SLOTS, solved for T. One id given to more than T visitors is
 * caught for certain when the rest cancel; the summary says what T is for the run.
 */
export function balanceLimit(visits: number): number {
  const log = Math.log((2 * SLOTS) / FALSE_ALARM);
  const variance = visits / SLOTS;
  return Math.ceil(log / 3 + Math.sqrt((log / 3) ** 2 + 2 * variance * log));
}
