/** https://www.w3.org/TR/baggage/#limits: the minimum that every platform must propagate. */
export const BAGGAGE_MAX_BYTES = 8192;
export const BAGGAGE_MAX_MEMBERS = 64;

export interface Member {
  key: string;
  /** Percent-decoded. */
  value: string;
  /** The `;`-separated properties unchanged; empty if there are none. */
  properties: string;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** baggage-octet: printable ASCII without space, `"`, `,`, `;` and `\`. */
const OCTETS = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/**
 * Parses a `baggage` value into its members, in order.
 *
 * Returns undefined if any member violates the grammar, because one invalid member makes the whole header suspect.
 * Rule: https://www.w3.org/TR/baggage/#header-content
 */
export function parseBaggage(value: string | undefined): Member[] | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const members = value.split(",").map(parseMember);
  return members.every((member) => member !== undefined) ? members : undefined;
}

function parseMember(text: string): Member | undefined {
  const [pair = "", ...properties] = text.split(";");
  const at = pair.indexOf("=");
  if (at < 0) return undefined;
  const key = pair.slice(0, at).trim();
  const raw = pair.slice(at + 1).trim();
  if (!TOKEN.test(key) || !OCTETS.test(raw)) return undefined;
  try {
    return { key, value: decodeURIComponent(raw), properties: properties.map((p) => p.trim()).join(";") };
  } catch {
    return undefined;
  }
}

/** Writes a `baggage` value; values are percent-encoded. Throws if a key is not a token or W3C's limits are exceeded. */
export function formatBaggage(members: { key: string; value: string; properties?: string }[]): string {
  const text = members
    .map(({ key, value, properties }) => {
      if (!TOKEN.test(key)) throw new Error(`baggage key "${key}" is not a token`);
      return `${key}=${encodeURIComponent(value)}${properties ? `;${properties}` : ""}`;
    })
    .join(",");
  if (members.length > BAGGAGE_MAX_MEMBERS) throw new Error(`baggage has ${members.length} members`);
  if (text.length > BAGGAGE_MAX_BYTES) throw new Error(`baggage is ${text.length} bytes long`);
  return text;
}
