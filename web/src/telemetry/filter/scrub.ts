const FILTERED = "[Filtered]";

/**
 * Headers and fields whose value is never anybody's business. Of a recorded request the SDK also makes attributes, one for each
 * header and one for each cookie: `http.request.header.cookie.<name>`.
 */
const SECRET_NAME =
  /^(?:(?:.*\.)?(?:set[-_])?cookies?(?:\..*)?|.*authorization|(?:.*[-_.])?(?:auth|session)|.*(?:password|passwd|secret|token|api[-_]?key|session[-_]?id|csrf|jwt|credential|signature).*)$/i;

/** Parameters, wherever an address appears in a text: `?token=…`, `&code=…`, `#access_token=…`. */
const SECRET_PARAMETER =
  "(?:[\\w.-]*(?:password|passwd|secret|token|key|session|auth|signature|jwt)[\\w.-]*|code|state|otp|pin|email)";
const SECRET_QUERY = new RegExp(`((?:^|[?&;#])${SECRET_PARAMETER}=)[^&#;\\s"']+`, "gi");

/** The same in an address that is itself a parameter of another: `?next=%2Fa%3Ftoken%3D…`, once more encoded at each depth. */
const BETWEEN = "(?:3F|26|3B|23)";
const SECRET_NESTED = new RegExp(
  `(%(?<depth>(?:25)*)${BETWEEN}${SECRET_PARAMETER}%\\k<depth>3D)(?:(?!%\\k<depth>${BETWEEN})[^&#;\\s"'])+`,
  "gi",
);

/**
 * Fields of JSON inside a text, with their quotes at any depth: `{\"password\": \"…\"}`. A value ends at the quotes with which it began.
 * Repetitions are bounded, so that no text takes long.
 */
const SECRET_FIELD = new RegExp(
  [
    "((\\\\{0,15}[\"'])(?:[\\w.-]{0,50}",
    "(?:password|passwd|secret|token|api[-_]?key|authorization|cookie|session[-_]?id|csrf|jwt|credential|signature)",
    "[\\w.-]{0,50}|auth|session|otp|pin)\\2\\s{0,9}:\\s{0,9})",
    "(?:(\\\\{0,15}[\"'])(?:(?!\\3)(?:\\\\.|[^\\\\]))*(?:\\3|$)|[^\\s,}\\]\"'{[]+)",
  ].join(""),
  "gis",
);

/** Credentials as a header writes them, inside a text. */
const CREDENTIALS = /\b(Bearer|Basic)\s+(?=\S*[\d=])[\w.~+/=-]{6,}/gi;

// From where a word begins, or a long one before an "@" would be tried from each of its letters.
const EMAIL = /(?<![\w.+-])[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?![\w-])/gi;

/** Where code is named rather than people: nothing to find, and the bulk of an event. */
const LEFT_ALONE = new Set([
  "stacktrace",
  "debug_meta",
  "sdk",
  "modules",
  "release",
  "dsn",
  "sdkProcessingMetadata",
  "user_agent",
]);

/** The names that carry a trace, although they sound like secrets to the patterns above. */
const HARMLESS = new Set(["sentry-trace", "traceparent"]);

/**
 * Takes what is about to be sent and returns a copy without cookies, credentials, secret query values and e-mail addresses,
 * however deep they are. The last thing that happens to a report: what an app adds later passes through as well.
 */
export function scrub<T>(report: T): T {
  return walk(report, 0) as T;
}

function walk(value: unknown, depth: number): unknown {
  // The SDK's logger.fmt makes an object of a text.
  if (typeof value === "string" || value instanceof String) return scrubText(String(value));
  if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
  if (!isPlain(value) || depth > 12) return value;
  const fields = Object.entries(value).filter(([name]) => !isNonceCarrier(name));
  return Object.fromEntries(fields.map(([name, item]) => [name, field(name, item, depth)]));
}

function field(name: string, value: unknown, depth: number): unknown {
  if (LEFT_ALONE.has(name)) return value;
  if (value !== undefined && value !== null && isSecret(name)) return isTyped(value) ? TYPED_FILTERED : FILTERED;
  return walk(value, depth + 1);
}

const TYPED_FILTERED = { value: FILTERED, type: "string" };

/** An attribute as the containers of logs, metrics and streamed spans write it. */
function isTyped(value: unknown): boolean {
  return isPlain(value) && "value" in value && typeof value.type === "string";
}

/** The request header by which the proxy hands Next the nonce, 400 bytes, in the SDK's two spellings: it says nothing of the request. */
const isNonceCarrier = (name: string) => name.endsWith("olicy") && /(?:^|\.)content[-_]security[-_]policy$/i.test(name);

const judged = new Map<string, boolean>();

// The same few hundred names come with every report.
function isSecret(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  if (judged.size >= 1000) judged.clear();
  const secret = SECRET_NAME.test(name) && !HARMLESS.has(name);
  judged.set(name, secret);
  return secret;
}

/** Takes a text and returns it with secret query values and e-mail addresses replaced. */
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
