import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BROWSER_HEADERS } from "../lib/browser-headers.ts";

const { CHROMIUM_PATH, PATH = "" } = process.env;
const chromium =
  CHROMIUM_PATH ||
  PATH.split(":")
    .map((folder) => `${folder}/chromium`)
    .find(existsSync);
const PAGE = `<link rel=stylesheet href=/style><script src=/script></script><form method=POST action=/form><button></form>
<script>onload = () => fetch("/fetch").then(() => document.querySelector("button").click())</script>`;

/** What Chromium asked for each path. */
const asked: Record<string, IncomingHttpHeaders> = {};
const server = createServer(({ url = "", headers }, response) => {
  asked[url.slice(1)] ??= headers;
  response.setHeader("content-type", { "/style": "text/css", "/script": "text/javascript" }[url] ?? "text/html");
  response.end(url === "/document" ? PAGE : "");
});
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/document`;
  if (!chromium) return;
  const browser = spawn(chromium, ["--headless", "--no-sandbox", "--accept-lang=en-US,en", address], {
    stdio: "ignore",
  });
  while (!asked.form) await once(server, "request");
  browser.kill();
}, 120_000);
afterAll(() => void server.close().closeAllConnections());

it.skipIf(!chromium).each(Object.entries(BROWSER_HEADERS))("asks for a %s as Chromium does", (name, headers) => {
  const { "accept-encoding": _, accept, ...own } = headers;
  // Not every version knows JPEG XL.
  const types = [accept, accept.replace("image/jxl,", "")];
  expect(asked[name]).toMatchObject({ ...own, accept: expect.toSatisfy((is: string) => types.includes(is)) });
});
