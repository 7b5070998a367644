import { afterEach, expect, test, vi } from "vitest";
import { publicUrl } from "./public-url.js";

afterEach(() => void vi.unstubAllEnvs());

const front = { host: "web:3000", "x-forwarded-proto": "https", "x-forwarded-host": "shop.example:9443" };
const headers = new Headers(front);
const url = "https://0.0.0.0:3000/shop/a?b=1";
test.each([
  ["middleware", "/shop", { headers, url, nextUrl: { basePath: "/shop" } }, "/shop/a?b=1"],
  ["a route handler", "/shop", { headers, url: url.replace("/shop", ""), nextUrl: { basePath: "" } }, "/shop/a?b=1"],
  ["a route handler of the same path", "/shop", { headers, url, nextUrl: { basePath: "" } }, "/shop/shop/a?b=1"],
  ["the Pages Router", "/shop", { headers: front, url: "/a?b=1" }, "/shop/a?b=1"],
  ["a server component", "/shop", headers, "/shop/"],
])("publicUrl in %s, with base path %s", (_, basePath, request, path) => {
  vi.stubEnv("CULVERT_BASE_PATH", basePath);
  expect(publicUrl(request).href).toBe(`https://shop.example:9443${path}`);
});

test.each([
  ["//evil.example/a?b=1", "//evil.example/a?b=1"],
  ["/\\evil.example", "//evil.example"],
  ["http://web:3000//evil.example/a?b=1", "//evil.example/a?b=1"],
  ["//", "//"],
])("the request target %s leads to no other host, with and without base path", (target, path) => {
  for (const basePath of ["/shop", ""]) {
    vi.stubEnv("CULVERT_BASE_PATH", basePath);
    expect(publicUrl({ headers: front, url: target }).href).toBe(`https://shop.example:9443${basePath}${path}`);
  }
});

test("without the proxy, the address is that of the Host header", () => {
  expect(publicUrl(new Headers({ host: "localhost:3000" })).href).toBe("http://localhost:3000/");
});
