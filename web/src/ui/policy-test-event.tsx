"use client";

import { useState } from "react";

/** Renders a button that violates the page's Content-Security-Policy, and what the browser did about it. */
export function PolicyTestEvent() {
  const [message, setMessage] = useState<string>();
  function violate() {
    setMessage("Nothing was blocked: this page has no Content-Security-Policy.");
    const blocked = ({ effectiveDirective, disposition }: SecurityPolicyViolationEvent) =>
      setMessage(`${disposition === "enforce" ? "Blocked" : "Reported"}: ${effectiveDirective}.`);
    document.addEventListener("securitypolicyviolation", blocked, { once: true });
    const element = document.createElement("p");
    element.setAttribute("style", "color: red");
  }
  return (
    <>
      <button type="button" onClick={violate}>
        Violate the policy
      </button>
      <output aria-label="Outcome: Violate the policy">{message}</output>
    </>
  );
}
