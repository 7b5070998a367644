"use client";

import { useState } from "react";

/** Renders a button that breaks the page's Content-Security-Policy, and says what the browser made of it. */
export function PolicyTestEvent() {
  const [answer, setAnswer] = useState<string>();
  function violate() {
    setAnswer("Nothing was blocked: this page has no Content-Security-Policy.");
    const blocked = ({ effectiveDirective, disposition }: SecurityPolicyViolationEvent) =>
      setAnswer(`${disposition === "enforce" ? "Blocked" : "Reported"}: ${effectiveDirective}.`);
    document.addEventListener("securitypolicyviolation", blocked, { once: true });
    const element = document.createElement("p");
    element.setAttribute("style", "color: red");
  }
  return (
    <>
      <button type="button" onClick={violate}>
        Break the policy
      </button>
      <output aria-label="Outcome: Break the policy">{answer}</output>
    </>
  );
}
