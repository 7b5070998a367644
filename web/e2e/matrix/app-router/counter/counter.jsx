"use client";

import { useState } from "react";

/** Counts only after hydration. */
export default function Counter() {
  const [clicks, setClicks] = useState(0);
  return (
    <button type="button" onClick={() => setClicks(clicks + 1)}>
      Clicked {clicks} times
    </button>
  );
}
