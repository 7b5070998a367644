/**
 * Remembers the last `capacity` ids, whole.
 *
 * Being exact, it never calls a new id a repeat: a false alarm is impossible. What it forgets it cannot recognise, so a
 * repeat further back than `capacity` ids is missed. About 100 bytes an id.
 */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Takes an id in; says whether it was new. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > this.#capacity) this.#ids.delete(this.#ids.values().next().value as string);
    return true;
  }
}
