import { connect as connectH2 } from "node:http2";
import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { page, useEdge } from "./use-edge.ts";

const shared = useEdge({ SERVER_NAME: "app.example.com" });
beforeEach(() => shared.edge.web.answer(page));

describe("answers", () => {
  test("say nothing of what runs inside", async () => {
    await shared.edge.web.answer({
      ...page,
      headers: { ...page.headers, "x-powered-by": "Next.js", "x-middleware-set-cookie": "a=1", server: "node/24" },
    });
    const { answer } = await shared.through();
    expect(answer.headers["x-powered-by"]).toBeUndefined();
    expect(answer.headers["x-middleware-set-cookie"]).toBeUndefined();
    expect(answer.headers.server).toBe("nginx");
  });
  test("carry noindex on a 404 once, and the app's own word otherwise", async () => {
    await shared.edge.web.answer({ ...page, status: 404, headers: { "x-robots-tag": "all" } });
    expect((await shared.through()).answer.headers["x-robots-tag"]).toBe("noindex");
    await shared.edge.web.answer({ ...page, headers: { "x-robots-tag": "nofollow" } });
    expect((await shared.through()).answer.headers["x-robots-tag"]).toBe("nofollow");
    await shared.edge.web.answer(page);
    expect((await shared.through()).answer.headers["x-robots-tag"]).toBeUndefined();
  });
  test("can't send the proxy elsewhere", async () => {
    await shared.edge.web.answer({ ...page, headers: { "x-accel-redirect": "/.culvert/unavailable.html" } });
    expect((await shared.through()).answer.body).toBe(page.body);
  });
  test.each([
    ["another site's request with cookies", { cookie: "a=1", "sec-fetch-site": "cross-site" }, undefined],
    ["another site's request without", { "sec-fetch-site": "cross-site" }, "gzip"],
    ["its own request with cookies", { cookie: "a=1", "sec-fetch-site": "same-origin" }, "gzip"],
  ])("to %s are compressed only where sizes give nothing away", async (_, headers, encoding) => {
    await shared.edge.web.answer({ ...page, body: page.body.repeat(100) });
    const { answer } = await shared.through({ headers: { ...headers, "accept-encoding": "gzip" } });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-encoding"]).toBe(encoding);
  });
  test.each(["gzip", "br"])(
    "stream compressed with %s: what is rendered arrives before the rest is",
    async (encoding) => {
      await shared.edge.web.answer({ ...page, body: "<p>first</p>".repeat(100), rest: "<p>rest</p>" });
      const first = await new Promise<Buffer>((resolve, reject) => {
        const session = connectH2(`https://localhost:${shared.edge.port}`, { rejectUnauthorized: false });
        session.on("error", reject);
        const stream = session.request({ ":path": "/", "accept-encoding": encoding });
        stream.on("response", (headers) => expect(headers["content-encoding"]).toBe(encoding));
        stream.once("data", async (chunk: Buffer) => {
          await shared.edge.web.proceed();
          stream.resume().on("end", () => session.close());
          resolve(chunk);
        });
      });
      expect(first.length).toBeGreaterThan(0);
    },
  );
});

describe("security headers", () => {
  test("stand on every answer, with a policy whose nonce web got in its request", async () => {
    const { answer, received } = await shared.through({ host: "app.example.com" });
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "strict-origin-when-cross-origin",
      "cross-origin-opener-policy": "same-origin-allow-popups",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringContaining("camera=()"),
      "content-security-policy": expect.stringMatching(
        /script-src 'nonce-[0-9a-f]{32}' 'strict-dynamic';.*frame-ancestors 'self'.*report-uri \/monitoring\/csp/,
      ),
    });
    expect(received[0] && headerOf(received[0], "content-security-policy")).toBe(
      answer.headers["content-security-policy"],
    );
    const again = await shared.through({ host: "app.example.com" });
    expect(again.answer.headers["content-security-policy"]).not.toBe(answer.headers["content-security-policy"]);
  });
  test("the app's own policy wins", async () => {
    const own = {
      "content-security-policy": "default-src *",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "unsafe-none",
    };
    await shared.edge.web.answer({ ...page, headers: own });
    expect((await shared.through()).answer.headers).toMatchObject(own);
  });
  test("with the development certificate there is no HSTS", async () => {
    expect(
      (await shared.through({ host: "app.example.com" })).answer.headers["strict-transport-security"],
    ).toBeUndefined();
  });
});
