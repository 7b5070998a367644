"use client";

import { useEffect } from "react";

/**
 * In place of an error where this page called a server action that the server no longer has: a release came between the
 * two. Loads the page again, which is the new one's then. What was typed is lost, and nothing was done with it.
 */
export function NewRelease() {
  useEffect(() => location.reload(), []);
  return <p role="status">This site has just been updated. Loading the new version…</p>;
}
