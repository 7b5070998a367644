import { type Member, parseBaggage } from "./baggage.ts";

/** Sentry's members, without their prefix. Rule: https://develop.sentry.dev/sdk/foundations/trace-propagation/dynamic-sampling-context/ */
export type SamplingContext = Record<string, string>;

const PREFIX = "sentry-";

/** Picks the dynamic sampling context out of baggage members. */
export function samplingContext(members: Member[]): SamplingContext {
  const own = members.filter(({ key }) => key.startsWith(PREFIX));
  return Object.fromEntries(own.map(({ key, value }) => [key.slice(PREFIX.length), value]));
}

/** The members that are not Sentry's. */
export function thirdParty(members: Member[]): Member[] {
  return members.filter(({ key }) => !key.startsWith(PREFIX));
}

/** Turns a context into members to send. */
export function samplingMembers(context: SamplingContext): { key: string; value: string }[] {
  return Object.entries(context).map(([key, value]) => ({ key: PREFIX + key, value }));
}

/**
 * Which fields of a context that was sent came back different.
 *
 * A context is frozen once it has been sent: nobody downstream may change, add or drop a field that it holds.
 * Takes what was sent and the received header; returns one line a field, none when all are intact.
 */
export function changedFields(sent: SamplingContext, received: string | undefined): string[] {
  const members = parseBaggage(received);
  if (!members) return [`baggage ${received === undefined ? "is missing" : `"${received}" is not valid`}`];
  const got = samplingContext(members);
  return Object.entries(sent)
    .filter(([key, value]) => got[key] !== value)
    .map(([key, value]) => `sentry-${key} was "${value}", is ${got[key] === undefined ? "gone" : `"${got[key]}"`}`);
}
