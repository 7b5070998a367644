import { expect, test } from "./fixtures.ts";
import { app } from "./stack.ts";

test("plain HTTP only redirects, and keeps the method", async ({ request }) => {
  const response = await request.post(`${app.plain}/some/path?a=1`, { maxRedirects: 0 });
  expect(response.status()).toBe(308);
  expect(response.headers().location).toBe(`${app.origin}/some/path?a=1`);
});
