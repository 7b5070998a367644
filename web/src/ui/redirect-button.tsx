"use client";

import { redirect } from "next/navigation";
import { useState } from "react";

/** Renders a button whose click makes this component redirect while it renders in the browser. */
export function RedirectButton() {
  const [redirecting, setRedirecting] = useState(false);
  if (redirecting) redirect("/trace");
  return (
    <button type="button" onClick={() => setRedirecting(true)}>
      Redirect in the browser
    </button>
  );
}
