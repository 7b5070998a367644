"use client";

import { isReporting, requestIdOf } from "@culvert/nextjs/errors";
import { type FormEvent, useState } from "react";

const ADDRESS = "/test-events/route-exception";

/** Renders the form that posts to a route handler that throws, and its response; without JavaScript the form navigates there. */
export function RouteTestEvent() {
  const [message, setMessage] = useState<string>();
  async function post(event: FormEvent) {
    event.preventDefault();
    const { status, headers } = await fetch(ADDRESS, { method: "POST" });
    const id = requestIdOf(headers);
    setMessage(isReporting() && id ? `Status ${status}. The server's event: ${id}.` : `Status ${status}.`);
  }
  return (
    <form action={ADDRESS} method="post" onSubmit={post}>
      <button type="submit">Throw in a route handler</button>
      <output aria-label="Outcome: Throw in a route handler">{message}</output>
    </form>
  );
}
