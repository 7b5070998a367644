"use client";

/** Throws wherever it is rendered: on the server, and again in the browser. */
export function ThrowsOnBothSides(): never {
  throw new Error("Thrown on purpose on both sides");
}
