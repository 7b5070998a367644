import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { page, useProxy } from "./use-proxy.ts";

const shared = useProxy({ CONTENT_SECURITY_POLICY: "report" });
beforeEach(() => shared.proxy.web.answer(page));

describe("CONTENT_SECURITY_POLICY=report", () => {
  test("tells of every page what the strict policy would do to it, and stops nothing", async () => {
    const { answer, received } = await shared.through();
    expect(answer.headers["content-security-policy-report-only"]).toContain("'strict-dynamic'");
    expect(answer.headers["content-security-policy"]).toBeUndefined();
    expect(answer.headers["reporting-endpoints"]).toBe('csp="/monitoring/csp"');
    expect(received[0] && headerOf(received[0], "content-security-policy")).toContain("nonce-");
  });
  test("leaves an app its own policy to try, and its own endpoints", async () => {
    const own = {
      "content-security-policy-report-only": "default-src 'self'; report-to own",
      "reporting-endpoints": 'own="/reports"',
    };
    await shared.proxy.web.answer({ ...page, headers: { ...page.headers, ...own } });
    expect((await shared.through()).answer.headers).toMatchObject(own);
  });
  test("adds its endpoint to those of an app that leaves the policy to it", async () => {
    await shared.proxy.web.answer({ ...page, headers: { ...page.headers, "reporting-endpoints": 'own="/reports"' } });
    const { answer } = await shared.through();
    expect(answer.headers["reporting-endpoints"]).toBe('csp="/monitoring/csp", own="/reports"');
  });
  // A nonce takes njs, whose memory each of thousands of open streams would hold.
  test.each(["/_next/static/a.js", "/_next/image?url=%2Fa.png&w=64&q=75"])("mints no nonce for %s", async (path) => {
    await shared.proxy.web.answer({ ...page, headers: { "content-type": "text/javascript" } });
    const { answer, received } = await shared.through({ path });
    expect(received).toHaveLength(1);
    expect(received[0] && headerOf(received[0], "content-security-policy")).toBeUndefined();
    expect(answer.headers["content-security-policy-report-only"]).not.toContain("nonce-");
  });
});
