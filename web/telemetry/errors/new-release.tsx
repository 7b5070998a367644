"use client";

import { useEffect } from "react";

/**
 * Replaces the error page if this page called a server action that the server no longer has, because a release happened in
 * between. Reloads the page from the new release. The action has not run, and what the user typed is lost.
 */
export function NewRelease() {
  useEffect(() => location.reload(), []);
  return <p role="status">This site has just been updated. Loading the new version…</p>;
}
