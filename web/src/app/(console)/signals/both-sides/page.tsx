"use client";

/** Throws while the server renders it, and again in the browser: one exception, to be reported once. */
export default function BothSidesPage(): never {
  throw new Error("Thrown on purpose on both sides");
}
