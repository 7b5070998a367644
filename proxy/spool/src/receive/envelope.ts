import { BodyError } from "../content-encoding.ts";
import { defaultCategory, higherPriority } from "../queue/priority.ts";

/** How much of an envelope is read. SDKs put the item that gives an envelope its category first. */
export const maxStartBytes = 256 << 10;
/** SDKs send up to 9 KB: a trace header of 8 KB (https://www.w3.org/TR/baggage/#limits), and less than 1 KB besides. */
const maxHeaderBytes = 16 << 10;
const maxItems = 100;

/**
 * Takes the beginning of an envelope, and returns the category with the highest priority among its first 100 items. Throws
 * BodyError. https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export function categoryOf(start: Buffer): string {
  let at = 0;
  const nextLine = (): Buffer => {
    const end = start.indexOf("\n", at);
    const line = start.subarray(at, end === -1 ? start.length : end);
    at = end === -1 ? start.length : end + 1;
    return line;
  };
  parseHeader(nextLine());
  let category: string | undefined;
  for (let items = 0; items < maxItems && start.includes("\n", at); items++) {
    const line = nextLine();
    if (line.length <= maxHeaderBytes && line.toString().trim() === "") continue;
    const { type, length } = parseHeader(line);
    category = higherPriority(category, typeof type === "string" ? type : "");
    // A payload with a length may contain newlines and is followed by one; without a length, the next newline ends it.
    if (typeof length === "number" && length >= 0) at += Math.min(start.length, length + 1);
    else nextLine();
  }
  return category ?? defaultCategory;
}

function parseHeader(line: Buffer): Record<string, unknown> {
  if (line.length > maxHeaderBytes) throw new BodyError(400, "the envelope has a header longer than 16 KB");
  try {
    const value: unknown = JSON.parse(line.toString());
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {}
  throw new BodyError(400, "the envelope has a header that is not a JSON object");
}
