"use server";

import { setTimeout as pause } from "node:timers/promises";
import { redirect } from "next/navigation";
import { breakLayout } from "../../../console/broken-layout";
import { requireConsole } from "../../../console/guard";
import { traceId } from "../../../console/trace-headers";
import { callUpstream } from "../../../console/upstream";
import { settings } from "../../../settings";

const SLOW_MS = 1_500;

/** The message of an action; undefined before it ran. */
export type Answer = string | undefined;

export async function throwInAction(): Promise<Answer> {
  await requireConsole();
  throw new Error("Thrown on purpose in a server action");
}

export async function throwInLayout(): Promise<Answer> {
  await requireConsole();
  await breakLayout();
  redirect("/test-events");
}

export async function redirectFromAction(): Promise<Answer> {
  await requireConsole();
  redirect("/trace");
}

export async function beSlow(): Promise<Answer> {
  await requireConsole();
  await pause(SLOW_MS);
  return `Took ${SLOW_MS / 1000} s.`;
}

export async function callOut(): Promise<Answer> {
  await requireConsole();
  const { upstreamUrl } = settings();
  const result = await callUpstream(upstreamUrl);
  if ("problem" in result) return `${upstreamUrl.host}: ${result.problem}.`;
  return `${upstreamUrl.host} received trace ${traceId(result.received) ?? "headers: none"}.`;
}
