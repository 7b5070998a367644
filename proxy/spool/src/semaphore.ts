/** Something scarce, memory for bodies above all: who does not fit yet waits in line instead of being refused. */
export class Semaphore {
  #free: number;
  #line: { size: number; go: () => void }[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Resolves with true once `size` bytes are this caller's, to be given back; with false after `timeoutMs` ms, which may be Infinity. */
  take(size: number, timeoutMs: number): Promise<boolean> {
    if (this.#line.length === 0 && size <= this.#free) {
      this.#free -= size;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const place = {
        size,
        go: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      const leave = () => {
        this.#line = this.#line.filter((other) => other !== place);
        this.#serve();
        resolve(false);
      };
      const timer = timeoutMs < Number.POSITIVE_INFINITY ? setTimeout(leave, timeoutMs) : undefined;
      this.#line.push(place);
    });
  }

  /** Gives bytes back. */
  give(size: number): void {
    this.#free += size;
    this.#serve();
  }

  #serve(): void {
    for (let next = this.#line[0]; next && next.size <= this.#free; next = this.#line[0]) {
      this.#line.shift();
      this.#free -= next.size;
      next.go();
    }
  }
}
