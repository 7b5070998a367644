"use client";

import { type FormEvent, useState } from "react";
import { isReporting } from "../telemetry/errors/error-boundary";
import { requestIdOf } from "../telemetry/errors/request-id";

const ADDRESS = "/test-events/route-exception";

/** Renders the form that posts to a route handler which throws, and what that answered; without JavaScript it leads there. */
export function RouteTestEvent() {
  const [answer, setAnswer] = useState<string>();
  async function post(event: FormEvent) {
    event.preventDefault();
    const { status, headers } = await fetch(ADDRESS, { method: "POST" });
    const id = requestIdOf(headers);
    setAnswer(isReporting() && id ? `Answered ${status}. The server's event: ${id}.` : `Answered ${status}.`);
  }
  return (
    <form action={ADDRESS} method="post" onSubmit={post}>
      <button type="submit">Throw in a route handler</button>
      <output aria-label="Outcome: Throw in a route handler">{answer}</output>
    </form>
  );
}
