"use client";

import { useActionState } from "react";
import { say } from "../app/actions";
import { utc } from "./utc";

/** Renders the form of the server action and its latest answer. */
export function SayForm() {
  const [answer, action, pending] = useActionState(say, null);
  return (
    <form action={action}>
      <label>
        Say something <input name="text" defaultValue="hello" maxLength={100} required />
      </label>
      <button type="submit" disabled={pending}>
        Send to the server
      </button>
      <output aria-label="Answer">{answer && `The server received “${answer.text}” at ${utc(answer.at)}.`}</output>
    </form>
  );
}
