const FILTERED = "[Filtered]";

/** Headers and fields whose value is always secret, also as the SDK's attributes: `http.request.header.cookie.<name>`. */
const SECRET_NAME =
  /^(?:(?:.*\.)?(?:set[-_])?cookies?(?:\..*)?|.*authorization|(?:.*[-_.])?(?:auth|session)|.*(?:password|passwd|secret|token|api[-_]?key|session[-_]?id|csrf|jwt|credential|signature).*)$/i;

/** Parameters, wherever an address appears in a text: `?token=…`, `&code=…`, `#access_token=…`. */
const SECRET_PARAMETER =
  "(?:[\\w.-]*(?:password|passwd|secret|token|key|session|auth|signature|jwt)[\\w.-]*|code|state|otp|pin|email)";
const SECRET_QUERY = new RegExp(`((?:^|[?&;#])${SECRET_PARAMETER}=)[^&#;\\s"']+`, "gi");

/** The same in a URL that is itself a parameter of another: `?next=%2Fa%3Ftoken%3D…`, encoded once more at each depth. */
const SEPARATOR = "(?:3F|26|3B|23)";
const SECRET_NESTED = new RegExp(
  `(%(?<depth>(?:25)*)${SEPARATOR}${SECRET_PARAMETER}%\\k<depth>3D)(?:(?!%\\k<depth>${SEPARATOR})[^&#;\\s"'])+`,
  "gi",
);

// Fields of JSON inside a text, with quotes escaped at any depth: `{\"password\": \"…\"}`. A value ends at the same quotes that it
// started with. Repetitions are bounded, so that every text is matched in linear time.
const SECRET_FIELD = new RegExp(
  [
    "((\\\\{0,15}[\"'])(?:[\\w.-]{0,50}",
    "(?:password|passwd|secret|token|api[-_]?key|authorization|cookie|session[-_]?id|csrf|jwt|credential|signature)",
    "[\\w.-]{0,50}|auth|session|otp|pin)\\2\\s{0,9}:\\s{0,9})",
    "(?:(\\\\{0,15}[\"'])(?:(?!\\3)(?:\\\\.|[^\\\\]))*(?:\\3|$)|[^\\s,}\\]\"'{[]+)",
  ].join(""),
  "gis",
);

/** Credentials in the form of a header value, inside a text. */
const CREDENTIALS = /\b(Bearer|Basic)\s+(?=\S*[\d=])[\w.~+/=-]{6,}/gi;

// Matched only from the start of a word; otherwise a long one before an "@" would be tried from each of its letters.
const EMAIL = /(?<![\w.+-])[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?![\w-])/gi;

/** Fields that name code rather than people: they hold no secrets, and most of an event's bytes. */
const CODE = /^(?:stacktrace|debug_meta|sdk|modules|release|dsn|sdkProcessingMetadata|user_agent)$/;

/** Trace headers, whose names match the patterns above. */
const NOT_SECRET = new Set(["sentry-trace", "traceparent"]);

/** Returns a copy of an event or another payload without cookies, credentials, secret query values and e-mail addresses. What is more than 12 levels deep is left out. */
export const scrub = <T>(payload: T): T => walk(payload, 0) as T;

function walk(value: unknown, depth: number): unknown {
  // The SDK's logger.fmt returns a String object.
  if (typeof value === "string" || value instanceof String) return scrubText(String(value));
  if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
  if (!isPlain(value)) return value;
  if (depth > 12) return FILTERED;
  const fields = Object.entries(value).filter(([name]) => !isNonceCarrier(name));
  return Object.fromEntries(
    fields.map(([name, item]) => {
      if (CODE.test(name)) return [name, item];
      return [name, (item ?? null) !== null && isSecret(name) ? filtered(item) : walk(item, depth + 1)];
    }),
  );
}

/** An attribute of logs, metrics and streamed spans keeps its format. */
const filtered = (value: unknown) =>
  isPlain(value) && "value" in value && typeof value.type === "string" ? { value: FILTERED, type: "string" } : FILTERED;

/** The 400-byte request header in which the proxy sends Next the nonce, in the SDK's two spellings: it says nothing of the request. */
const isNonceCarrier = (name: string) => name.endsWith("olicy") && /(?:^|\.)content[-_]security[-_]policy$/i.test(name);

const secretNames = new Map<string, boolean>();

// Every event has the same few hundred names.
function isSecret(name: string): boolean {
  const known = secretNames.get(name);
  if (known !== undefined) return known;
  if (secretNames.size >= 1000) secretNames.clear();
  const secret = SECRET_NAME.test(name) && !NOT_SECRET.has(name);
  secretNames.set(name, secret);
  return secret;
}

/** Takes a text and returns it with secret query values, JSON fields, credentials and e-mail addresses replaced. */
export function scrubText(text: string): string {
  const plain = text.includes("=") ? text.replace(SECRET_QUERY, `$1${FILTERED}`) : text;
  const quoted = plain.includes(":") ? plain.replace(SECRET_FIELD, `$1$3${FILTERED}$3`) : plain;
  const bare = /bearer|basic/i.test(quoted) ? quoted.replace(CREDENTIALS, `$1 ${FILTERED}`) : quoted;
  const open = bare.includes("%") ? bare.replace(SECRET_NESTED, `$1${FILTERED}`) : bare;
  return open.includes("@") || open.includes("%40") ? open.replace(EMAIL, "[email]") : open;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and each is scrubbed in the same way
export type Envelope = any;

/**
 * Scrubs an envelope in place, just before it is sent, so that data that an app adds is covered. Hooks such as `beforeSend` do not cover everything,
 * and depend on the SDK's version and `traceLifecycle`. Payloads that are bytes or text, such as a replay's recording, are not changed.
 */
export function scrubEnvelope(envelope: Envelope): void {
  envelope[0] = scrub(envelope[0]);
  for (const item of envelope[1]) if (typeof item[1] !== "string") item[1] = scrub(item[1]);
}
