"use server";

import { headers } from "next/headers";

export type Answer = { text: string; at: string; requestId: string | null };

/** Takes the form of the overview and returns what the server received, proof that a POST comes through the proxy. */
export async function say(_previous: Answer | null, form: FormData): Promise<Answer> {
  const text = String(form.get("text") ?? "").slice(0, 100);
  return { text, at: new Date().toISOString(), requestId: (await headers()).get("x-request-id") };
}
