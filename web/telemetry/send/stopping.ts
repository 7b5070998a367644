import { shared } from "../once.js";

const controller = () => shared("stopping", () => new AbortController());

/** Returns the signal that aborts when this process is told to stop, for code that must shorten its timeouts then. */
export const stopping = (): AbortSignal => controller().signal;

/** Returns whether this process was told to stop and should get no new requests. */
export const isStopping = (): boolean => stopping().aborted;

/** Marks this process as told to stop. */
export const markStopping = (): void => controller().abort();
