"use client";

import { redirect } from "next/navigation";
import { useState } from "react";

/** Renders a button whose click makes this component redirect while it renders in the browser. */
export function RedirectButton() {
  const [leaving, setLeaving] = useState(false);
  if (leaving) redirect("/trace");
  return (
    <button type="button" onClick={() => setLeaving(true)}>
      Redirect in the browser
    </button>
  );
}
