/**
 * Detects trace ids shared between virtual users, which in k6 share nothing but metrics: each id adds +1 or −1, depending on
 * its bits, to one of a few counters. Different ids cancel out; an id given to many clients always counts in one direction.
 */
export const SLOTS = 32;

/** Probability per run that distinct ids cause a false alarm. */
export const FALSE_ALARM = 1e-9;

/** The counter that an id changes, and by what, from its last 32 bits: the fixed bits of a version 4 UUID are further left. */
export function balanceOf(id: string): { slot: number; step: 1 | -1 } {
  const bits = Number.parseInt(id.slice(-8), 16);
  return { slot: bits % SLOTS, step: (bits / SLOTS) & 1 ? 1 : -1 };
}

/**
 * The largest distance from zero that a counter may reach after `iterations` without any id being shared.
 *
 * Bernstein's inequality for steps of ±1, each with probability 1/(2·SLOTS), over all slots and both signs:
 * 2·SLOTS·exp(−T²/(2(v+T/3))) = FALSE_ALARM with v = iterations/SLOTS, solved for T. One id given to more than T clients is
 * certainly detected if the rest cancel out; the summary shows the T of a run.
 */
export function balanceLimit(iterations: number): number {
  const log = Math.log((2 * SLOTS) / FALSE_ALARM);
  const variance = iterations / SLOTS;
  return Math.ceil(log / 3 + Math.sqrt((log / 3) ** 2 + 2 * variance * log));
}
