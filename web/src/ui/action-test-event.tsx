"use client";

import { useActionState } from "react";
import {
  type Answer,
  beSlow,
  callOut,
  redirectFromAction,
  throwInAction,
  throwInLayout,
} from "../app/(console)/test-events/actions";

const ACTIONS = {
  exception: { label: "Throw in a server action", action: throwInAction },
  layout: { label: "Throw in the layout", action: throwInLayout },
  redirect: { label: "Redirect from an action", action: redirectFromAction },
  slow: { label: "Take 1.5 seconds", action: beSlow },
  call: { label: "Call the upstream", action: callOut },
};

export type ActionName = keyof typeof ACTIONS;

/** Takes an action's name; renders the form that posts it to the page's own address, and the message that it returned. */
export function ActionTestEvent({ name }: { name: ActionName }) {
  const { label, action } = ACTIONS[name];
  const [answer, post, pending] = useActionState<Answer>(action, undefined);
  return (
    <form action={post}>
      <button type="submit" disabled={pending}>
        {label}
      </button>
      <output aria-label={`Outcome: ${label}`}>{pending ? "Running…" : answer}</output>
    </form>
  );
}
