/** What every platform must propagate: https://www.w3.org/TR/baggage/#limits */
export const BAGGAGE_MAX_BYTES = 8192;

export type Baggage = Record<string, string>;

/** https://www.w3.org/TR/baggage/#header-content */
const MEMBER = /^\s*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*=\s*([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)\s*(?:;.*)?$/;

/** Parses a `baggage` header; returns undefined if any member is invalid. */
export function parseBaggage(value = ""): Baggage | undefined {
  try {
    const members = value.split(",").map((member) => MEMBER.exec(member));
    if (!members.every((member) => member !== null)) return undefined;
    return Object.fromEntries(members.map(([, key = "", text = ""]) => [key, decodeURIComponent(text)]));
  } catch {
    return undefined;
  }
}

export const formatBaggage = (members: Baggage): string =>
  Object.entries(members)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join(",");

/** Each sampling field that a received header has changed: https://develop.sentry.dev/sdk/foundations/trace-propagation/dynamic-sampling-context/ */
export function changedFields(sent: Baggage, received: string | undefined): string[] {
  const got = parseBaggage(received);
  if (!got) return [`baggage ${received === undefined ? "is missing" : `"${received}" is not valid`}`];
  return Object.entries(sent)
    .filter(([key, value]) => got[key] !== value)
    .map(([key, value]) => `${key} was "${value}", is ${got[key] === undefined ? "gone" : `"${got[key]}"`}`);
}
