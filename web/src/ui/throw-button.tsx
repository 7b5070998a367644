"use client";

import { useState } from "react";

/** Renders a button whose click makes this component throw, as a bug in a client component would. */
export function ThrowButton() {
  const [failed, setFailed] = useState(false);
  if (failed) throw new Error("Thrown on purpose while rendering in the browser");
  return (
    <button type="button" onClick={() => setFailed(true)}>
      Throw in a component
    </button>
  );
}
