import { describe, expect, test } from "vitest";
import { scrub, scrubText } from "./scrub.js";

describe("texts", () => {
  test.each([
    ["GET /reset?token=abc123&page=2", "GET /reset?token=[Filtered]&page=2"],
    ["https://app/cb?code=xyz&state=1#top", "https://app/cb?code=[Filtered]&state=[Filtered]#top"],
    ["?X-Amz-Signature=ff&id=4", "?X-Amz-Signature=[Filtered]&id=4"],
    ["https://app/cb#access_token=abc&tab=2", "https://app/cb#access_token=[Filtered]&tab=2"],
    ["/login?next=%2Fa%3Ftoken%3Dabc%26tab%3D2&x=1", "/login?next=%2Fa%3Ftoken%3D[Filtered]%26tab%3D2&x=1"],
    ["/login?next=%2Fa%3Ftab%3D2%26token%3dabc%23top", "/login?next=%2Fa%3Ftab%3D2%26token%3d[Filtered]%23top"],
    ["/a?next=%2Fb%3Fnext%3D%252Fc%253Fcode%253Dxyz", "/a?next=%2Fb%3Fnext%3D%252Fc%253Fcode%253D[Filtered]"],
    // Its value may contain a character that would otherwise start another parameter.
    ["/a?token=abc%26def", "/a?token=[Filtered]"],
    ["/a?next=%2Fb%3Ftoken%3Dabc%2526def%26tab%3D2", "/a?next=%2Fb%3Ftoken%3D[Filtered]%26tab%3D2"],
    ["no user Jo.Doe+x@mail.example.com here", "no user [email] here"],
    ["/invite?who=jo%40example.com", "/invite?who=[email]"],
    [
      'login failed: {"user":"jo","password":"a\\"b","n":1}',
      'login failed: {"user":"jo","password":"[Filtered]","n":1}',
    ],
    ["{'api_key': 'abc', 'n': 1}", "{'api_key': '[Filtered]', 'n': 1}"],
    ['"{\\"access_token\\":\\"abc\\",\\"n\\":1}"', '"{\\"access_token\\":\\"[Filtered]\\",\\"n\\":1}"'],
    ['{"otp":123456,"n":1}', '{"otp":[Filtered],"n":1}'],
    ['cut off: {"password":"abc', 'cut off: {"password":"[Filtered]"'],
    ["sent Authorization: Bearer abc.def-123", "sent Authorization: Bearer [Filtered]"],
  ])("%s becomes %s", (before, after) => expect(scrubText(before)).toBe(after));

  test.each([
    "/docs?page=2&sort=name",
    "/login?next=%2Fdocs%3Fpage%3D2#part=3",
    "shop@1.4.2",
    "node_modules/@scope/pkg@2.0.0/index.js",
    "a monkey=banana said it",
    "Basic authentication failed: bearer of bad news",
    '{"code":"ENOENT","author":"jo","state":"open"}',
    "http://culvert@ingest:8969/1",
  ])("%s stays", (text) => expect(scrubText(text)).toBe(text));
});

test.each([
  "http.request.header.cookie.cart",
  "http.response.header.set_cookie.cart",
  "http.request.header.x_api_key",
  "http.request.header.proxy_authorization",
  "set-cookie",
  "X-Auth",
  "x-session",
  "x-csrf",
  "x-jwt-assertion",
  "x-goog-credential",
  "x-hub-signature",
  "userPassword",
  "tokens",
  "client_secret",
  "passwd",
  "sessionId",
])("the value of %s is filtered", (name) => expect(scrub({ [name]: "topsecret" })).toEqual({ [name]: "[Filtered]" }));

test.each([
  "http.request.header.accept",
  "http.request.header.x_request_id",
  "sentry-trace",
  "author",
  "cookieConsentShown",
])("the value of %s stays", (name) => expect(scrub({ [name]: "known" })).toEqual({ [name]: "known" }));

test("a filtered attribute keeps its format", () => {
  const attribute = (value: string) => ({ "http.request.header.cookie": { value, type: "string" } });
  expect(scrub(attribute("cart=1"))).toEqual(attribute("[Filtered]"));
});

// Backtracking would take longer than a test may.
test("a text made to backtrack is scrubbed", () => {
  for (const part of ["\\", '"token', '"a', "token", "'", '"token":"\\'])
    scrubText(`:${part.repeat(200_000 / part.length)}`);
  scrubText(`@${"a".repeat(200_000)}`);
});

test.each(["Content-Security-Policy", "http.request.header.content_security_policy"])(
  "the header with the nonce is removed: %s",
  (name) => expect(scrub({ [name]: "script-src 'nonce-abc'", accept: "*/*" })).toEqual({ accept: "*/*" }),
);

test("an event loses credentials at any depth, and nothing else; the event itself is not changed", () => {
  const kept = {
    release: "jo@example.com",
    exception: { values: [{ stacktrace: { frames: [{ filename: "a?token=1" }] } }] },
    headers: { Accept: "*/*" },
  };
  const event = {
    ...kept,
    message: "mail to jo@example.com",
    deep: [{ a: { password: "p", none: null } }],
    cookies: {},
  };
  const before = structuredClone(event);
  const deep = [{ a: { password: "[Filtered]", none: null } }];
  expect(scrub(event)).toEqual({ ...kept, message: "mail to [email]", deep, cookies: "[Filtered]" });
  expect(event).toEqual(before);
  const nested = '{"a":'.repeat(14);
  expect(JSON.stringify(scrub(JSON.parse(`${nested}{"password":"p"}${"}".repeat(14)}`)))).not.toContain('"p"');
});
