/** A counting semaphore: a caller that must wait keeps its place in the line, whatever it asks for. */
export class Semaphore {
  #available: number;
  #waiters: { permits: number; grant: () => void }[] = [];

  constructor(permits: number) {
    this.#available = permits;
  }

  /** Resolves with true once the caller holds the permits, or with false after `timeoutMs`, by default 24 days. */
  acquire(permits: number, timeoutMs = 2 ** 31 - 1): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        this.#grantNext();
        resolve(false);
      };
      const timer = setTimeout(giveUp, timeoutMs);
      const grant = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const waiter = { permits, grant };
      this.#waiters.push(waiter);
      this.#grantNext();
    });
  }

  /** Returns permits. */
  release(permits: number): void {
    this.#available += permits;
    this.#grantNext();
  }

  #grantNext(): void {
    for (let next = this.#waiters[0]; next && next.permits <= this.#available; next = this.#waiters[0]) {
      this.#waiters.shift();
      this.#available -= next.permits;
      next.grant();
    }
  }
}
