import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { page, useProxy } from "./use-proxy.ts";

const shared = useProxy({ CONTENT_SECURITY_POLICY: "report" });
const headers = { accept: "text/html,*/*" };

describe("CONTENT_SECURITY_POLICY=report", () => {
  test("tells of every page what the strict policy would do to it, and stops nothing", async () => {
    const { answer, received } = await shared.through({ headers });
    expect(answer.headers["content-security-policy-report-only"]).toContain("'strict-dynamic'");
    expect(answer.headers["content-security-policy"]).toBeUndefined();
    expect(answer.headers["content-security-policy-report-only"]).toMatch(/report-uri \/monitoring\/csp$/);
    expect(received[0] && headerOf(received[0], "content-security-policy")).toContain("nonce-");
  });
  test("leaves an app its own policy to try, and its own endpoints", async () => {
    const own = {
      "content-security-policy-report-only": "default-src 'self'; report-to own",
      "reporting-endpoints": 'own="/reports"',
    };
    await shared.proxy.web.answer({ ...page, headers: { ...page.headers, ...own } });
    expect((await shared.through({ headers })).answer.headers).toMatchObject(own);
  });
});

describe("CONTENT_SECURITY_POLICY=off", () => {
  const off = useProxy({ CONTENT_SECURITY_POLICY: "off" });
  test("sends no policy to browsers and no nonce to web, but an app's own policy and that of the error page", async () => {
    const strict = { ...page, headers: { ...page.headers, "x-security-headers": "strict" } };
    await off.proxy.web.answer(strict);
    const { answer, received } = await off.through({ headers });
    expect(answer.headers["content-security-policy"]).toBeUndefined();
    expect(answer.headers["permissions-policy"]).toContain("camera=()");
    expect(received[0] && headerOf(received[0], "content-security-policy")).toBeUndefined();
    const own = { "content-security-policy": "default-src *" };
    await off.proxy.web.answer({ ...strict, headers: { ...strict.headers, ...own } });
    expect((await off.through({ headers })).answer.headers).toMatchObject(own);
    await off.proxy.web.answer({ ...page, instead: "reset" });
    const error = await off.through({ headers });
    expect(error.answer.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });
});
