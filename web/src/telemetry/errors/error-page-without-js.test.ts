import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, expect, test } from "vitest";
import { noteDigest } from "./digest";
import { serveErrorPageWithoutJs } from "./error-page-without-js";

const SHELL = '<!DOCTYPE html><html id="__next_error__"><head></head><body><div hidden=""></div></body></html>';
const ID = "0af7651916cd43dd8448eb211c80319c";
const PAGE = { "x-request-id": ID, accept: "text/html,*/*" };
const MESSAGE = "Application error: a ";

let server: Server;
beforeAll(() => serveErrorPageWithoutJs(true));
afterEach(() => server.close());

async function request(
  handler: RequestListener,
  headers: Record<string, string> = PAGE,
): Promise<Response & { html: string }> {
  server = createServer(handler);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=1`, { headers });
  return Object.assign(response, { html: await response.text() });
}

const render: RequestListener = (_request, response) => {
  response.statusCode = 500;
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.setHeader("link", '</_next/a.css>; rel=preload; as="style"; nonce="1"');
  response.write(Buffer.from(SHELL.slice(0, -14)));
  response.end(SHELL.slice(-14));
};

test("an exception while rendering is shown with its digest, its ids and the page's style", async () => {
  noteDigest({ digest: "42" }, ID);
  const { status, html } = await request(render);
  expect(status).toBe(500);
  expect(html).toContain(MESSAGE);
  expect(html).toContain("<code>42</code>");
  expect(html.split(ID)).toHaveLength(3);
  expect(html).toContain('<link rel="stylesheet" href="/_next/a.css">');
  expect(html).toContain('href=""');
  expect(html).toMatch(/<div hidden=""><\/div><\/body><\/html>$/);
});

test("a plain response of Next becomes a page only for a client that accepts one", async () => {
  const bare: RequestListener = (_request, response) => {
    response.statusCode = 500;
    response.setHeader("content-type", "text/plain");
    response.setHeader("content-length", 21);
    response.end("Internal Server Error");
  };
  const page = await request(bare);
  expect(page.html).toContain(MESSAGE);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  server.close();
  expect((await request(bare, { accept: "*/*" })).html).toBe("Internal Server Error");
});

test("so does an empty response to an exception in a route handler, but not the handler's own response", async () => {
  const id = "1".repeat(32);
  const empty: RequestListener = (_request, response) => {
    // As Next's compression does: the head is written before the end.
    response.statusCode = 500;
    response.writeHead(500);
    response.end();
  };
  const own: RequestListener = (_request, response) => {
    response.statusCode = 500;
    response.writeHead(500).end("Oh no");
  };
  expect((await request(own, { ...PAGE, "x-request-id": id })).html).toBe("Oh no");
  server.close();
  noteDigest(new Error("x"), id);
  const page = await request(empty, { ...PAGE, "x-request-id": id });
  expect(page.html).toContain(MESSAGE);
  expect(page.html).not.toContain("Digest");
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  server.close();
  expect((await request(empty, { "x-request-id": id, accept: "*/*" })).html).toBe("");
});

test.each([
  ["a page without error", 200, { "content-type": "text/html" }, SHELL],
  ["an error page of the app's own", 500, { "content-type": "text/html" }, "<html><body>Oh no</body></html>"],
  ["an error in JSON", 500, { "content-type": "application/json" }, "{}"],
])("%s is not changed", async (_what, status, headers, body) => {
  const { html } = await request((_request, response) => response.writeHead(status, headers).end(body));
  expect(html).toBe(body);
});
