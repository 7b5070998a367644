"use client";

import { useState } from "react";

/** Renders a button. After a click, `act` runs while this component renders, as a bug in a client component would. */
export function RenderButton({ label, act }: { label: string; act: () => never }) {
  const [isClicked, setClicked] = useState(false);
  if (isClicked) act();
  return (
    <button type="button" onClick={() => setClicked(true)}>
      {label}
    </button>
  );
}
