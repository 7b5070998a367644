/**
 * Remembers the last `capacity` ids.
 *
 * It compares whole ids, so it never mistakes a new id for a repeated one. It misses a repeat that is more than `capacity`
 * ids old. Takes about 100 bytes per id.
 */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Adds an id; returns whether it was new. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > this.#capacity) this.#ids.delete(this.#ids.values().next().value as string);
    return true;
  }
}
