"use client";

/** Throws on the server, and again in the browser. */
export function ThrowsOnBothSides(): never {
  throw new Error("Thrown on purpose on both sides");
}
