import { describe, expect, test } from "vitest";
import { scrub, scrubText } from "./scrub";

describe("texts", () => {
  test.each([
    ["GET /reset?token=abc123&page=2", "GET /reset?token=[Filtered]&page=2"],
    ["https://app/cb?code=xyz&state=1#top", "https://app/cb?code=[Filtered]&state=[Filtered]#top"],
    ["api_key=abc", "api_key=[Filtered]"],
    ["?X-Amz-Signature=ff&id=4", "?X-Amz-Signature=[Filtered]&id=4"],
    ["no user Jo.Doe+x@mail.example.com here", "no user [email] here"],
    ["/invite?who=jo%40example.com", "/invite?who=[email]"],
  ])("%s becomes %s", (before, after) => expect(scrubText(before)).toBe(after));

  test.each([
    "/docs?page=2&sort=name",
    "shop@1.4.2",
    "node_modules/@scope/pkg@2.0.0/index.js",
    "a monkey=banana said it",
    "http://culvert@ingest:8969/1",
  ])("%s stays", (text) => expect(scrubText(text)).toBe(text));
});

test.each([
  "http.request.header.cookie.cart",
  "http.request.header.cookie",
  "http.response.header.set_cookie.cart",
  "http.request.header.authorization",
  "http.request.header.proxy_authorization",
  "http.request.header.x_api_key",
  "set-cookie",
  "X-Auth",
  "x-session",
  "x-jwt-assertion",
  "x-goog-credential",
  "x-hub-signature",
])("what is named %s is nobody's business", (name) =>
  expect(scrub({ [name]: "topsecret" })).toEqual({ [name]: "[Filtered]" }),
);

test.each(["http.request.header.accept", "http.request.header.x_request_id", "author", "cookieConsentShown"])(
  "what is named %s stays",
  (name) => expect(scrub({ [name]: "known" })).toEqual({ [name]: "known" }),
);

test("an event loses credentials wherever they are, and nothing else", () => {
  const event = {
    release: "jo@example.com",
    message: "mail to jo@example.com failed",
    request: {
      url: "https://app/a?access_token=1&tab=2",
      query_string: "access_token=1&tab=2",
      cookies: { session: "s" },
      headers: {
        Authorization: "Bearer x",
        "X-Csrf-Token": "t",
        Cookie: "a=b",
        Accept: "*/*",
        "sentry-trace": "ab-cd-1",
      },
    },
    exception: { values: [{ value: "bad password=hunter2", stacktrace: { frames: [{ filename: "a?token=1" }] } }] },
    breadcrumbs: [{ data: { url: "/x?otp=123456" } }],
    extra: { deep: { userPassword: "p", tokens: 3, none: null } },
  };
  const before = structuredClone(event);
  expect(scrub(event)).toEqual({
    release: "jo@example.com",
    message: "mail to [email] failed",
    request: {
      url: "https://app/a?access_token=[Filtered]&tab=2",
      query_string: "access_token=[Filtered]&tab=2",
      cookies: "[Filtered]",
      headers: {
        Authorization: "[Filtered]",
        "X-Csrf-Token": "[Filtered]",
        Cookie: "[Filtered]",
        Accept: "*/*",
        "sentry-trace": "ab-cd-1",
      },
    },
    exception: { values: [{ value: "bad password=hunter2", stacktrace: { frames: [{ filename: "a?token=1" }] } }] },
    breadcrumbs: [{ data: { url: "/x?otp=[Filtered]" } }],
    extra: { deep: { userPassword: "[Filtered]", tokens: "[Filtered]", none: null } },
  });
  expect(event).toEqual(before);
});
