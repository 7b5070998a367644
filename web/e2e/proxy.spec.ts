import { connect } from "node:http2";
import { inside } from "./containers.ts";
import { expect, test } from "./fixtures.ts";
import { app } from "./stack.ts";

for (const path of [
  "/no-such-page",
  "/_next/static/no-such.js",
  "/no-such.png",
  "/api/no-such-route",
  `${app.tunnel}/no-such`,
]) {
  test(`a 404 for ${path} has X-Robots-Tag: noindex`, async ({ request }) => {
    const response = await request.get(path);
    expect(response.status()).toBe(404);
    expect(response.headers()["x-robots-tag"]).toBe("noindex");
  });
}

test("no other response has X-Robots-Tag", async ({ request, page }) => {
  const seen: string[] = [];
  page.on("response", async (response) => {
    if (response.status() !== 404 && response.headers()["x-robots-tag"]) seen.push(response.url());
  });
  await page.goto("/");
  await page.goto("/trace");
  for (const path of ["/test-events/redirect", "/test-events/server-exception", "/healthz", "/api/echo", app.tunnel]) {
    const response = await request.get(path, { maxRedirects: 0 });
    if (response.headers()["x-robots-tag"]) seen.push(path);
  }
  expect(seen).toEqual([]);
});

test("plain HTTP only redirects, and keeps the method", async ({ request }) => {
  const response = await request.post(`${app.plain}/some/path?a=1`, { maxRedirects: 0 });
  expect(response.status()).toBe(308);
  expect(response.headers().location).toBe(`${app.origin}/some/path?a=1`);
});

test("HTTP/2 is supported", async () => {
  const session = connect(app.origin, { rejectUnauthorized: false, ALPNProtocols: ["h2"] });
  const status = await new Promise((resolve, reject) => {
    session.on("error", reject);
    session
      .request({ ":path": "/" })
      .on("response", (headers) => resolve(headers[":status"]))
      .on("error", reject)
      .resume();
  });
  session.close();
  expect(status).toBe(200);
});

test("no source map is in the image, referenced by a script, or served", async ({ request }) => {
  const found = await inside(
    "web",
    "sh",
    "-c",
    "find .next -name '*.map'; grep -rl sourceMappingURL= .next/static; true",
  );
  expect(found).toEqual({ code: 0, output: "" });
  const script = (await (await request.get("/")).text()).match(/\/_next\/static\/chunks\/[\w-]+\.js/)?.[0];
  expect((await request.get(`${script}`)).status()).toBe(200);
  expect((await request.get(`${script}.map`)).status()).toBe(404);
});
