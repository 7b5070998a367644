import { type Member, parseBaggage } from "./baggage.ts";

/** Sentry's members without their prefix. Rule: https://develop.sentry.dev/sdk/foundations/trace-propagation/dynamic-sampling-context/ */
export type SamplingContext = Record<string, string>;

const PREFIX = "sentry-";

/** Extracts the dynamic sampling context from baggage members. */
export function samplingContext(members: Member[]): SamplingContext {
  const own = members.filter(({ key }) => key.startsWith(PREFIX));
  return Object.fromEntries(own.map(({ key, value }) => [key.slice(PREFIX.length), value]));
}

/** The members of other vendors. */
export function thirdParty(members: Member[]): Member[] {
  return members.filter(({ key }) => !key.startsWith(PREFIX));
}

/** Converts a context to baggage members. */
export function samplingMembers(context: SamplingContext): { key: string; value: string }[] {
  return Object.entries(context).map(([key, value]) => ({ key: PREFIX + key, value }));
}

/**
 * Compares a sent context with a received one.
 *
 * A context is frozen once it has been sent: no receiver may change or drop one of its fields. Takes the sent context and
 * the received header; returns one line per changed field, none if all are intact.
 */
export function changedFields(sent: SamplingContext, received: string | undefined): string[] {
  const members = parseBaggage(received);
  if (!members) return [`baggage ${received === undefined ? "is missing" : `"${received}" is not valid`}`];
  const got = samplingContext(members);
  return Object.entries(sent)
    .filter(([key, value]) => got[key] !== value)
    .map(([key, value]) => `sentry-${key} was "${value}", is ${got[key] === undefined ? "gone" : `"${got[key]}"`}`);
}
