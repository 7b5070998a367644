import { shared } from "../once.js";

const controller = () => shared("stopping", () => new AbortController());

/** Returns the signal that aborts when this process is told to stop, for code that must shorten its timeouts then. */
export function stopping(): AbortSignal {
  return controller().signal;
}

/** Returns whether this process was told to stop and should get no new requests. */
export function isStopping(): boolean {
  return stopping().aborted;
}

/** Marks this process as told to stop. */
export function markStopping(): void {
  controller().abort();
}
