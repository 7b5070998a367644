import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, expect, test } from "vitest";
import { noteDigest } from "./digest";
import { showPlainErrors } from "./error-page-without-js";

const SHELL = '<!DOCTYPE html><html id="__next_error__"><head></head><body><div hidden=""></div></body></html>';
const ID = "0af7651916cd43dd8448eb211c80319c";
const PAGE = { "x-request-id": ID, accept: "text/html,*/*" };
const SAYS = "Application error: a ";

let server: Server;
beforeAll(() => showPlainErrors(true));
afterEach(() => server.close());

async function ask(
  answer: RequestListener,
  headers: Record<string, string> = PAGE,
): Promise<Response & { words: string }> {
  server = createServer(answer);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=1`, { headers });
  return Object.assign(response, { words: await response.text() });
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
  const { status, words } = await ask(render);
  expect(status).toBe(500);
  expect(words).toContain(SAYS);
  expect(words).toContain("<code>42</code>");
  expect(words.split(ID)).toHaveLength(3);
  expect(words).toContain('<link rel="stylesheet" href="/_next/a.css">');
  expect(words).toContain('href=""');
  expect(words).toMatch(/<div hidden=""><\/div><\/body><\/html>$/);
});

test("one of which Next says only its name becomes a page for who asks for a page, and for nobody else", async () => {
  const bare: RequestListener = (_request, response) => {
    response.statusCode = 500;
    response.setHeader("content-type", "text/plain");
    response.setHeader("content-length", 21);
    response.end("Internal Server Error");
  };
  const page = await ask(bare);
  expect(page.words).toContain(SAYS);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  server.close();
  expect((await ask(bare, { accept: "*/*" })).words).toBe("Internal Server Error");
});

test("so does an exception in a route handler, of which it says nothing, and no answer of the handler's own", async () => {
  const id = "1".repeat(32);
  const empty: RequestListener = (_request, response) => {
    // As Next's compression does it: the head is made before the end is told.
    response.statusCode = 500;
    response.writeHead(500);
    response.end();
  };
  const own: RequestListener = (_request, response) => {
    response.statusCode = 500;
    response.writeHead(500).end("Oh no");
  };
  expect((await ask(own, { ...PAGE, "x-request-id": id })).words).toBe("Oh no");
  server.close();
  noteDigest(new Error("x"), id);
  const page = await ask(empty, { ...PAGE, "x-request-id": id });
  expect(page.words).toContain(SAYS);
  expect(page.words).not.toContain("Digest");
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  server.close();
  expect((await ask(empty, { "x-request-id": id, accept: "*/*" })).words).toBe("");
});

test.each([
  ["a page that is well", 200, { "content-type": "text/html" }, SHELL],
  ["an error page of the app's own", 500, { "content-type": "text/html" }, "<html><body>Oh no</body></html>"],
  ["an error in JSON", 500, { "content-type": "application/json" }, "{}"],
])("%s is sent as it is", async (_what, status, headers, body) => {
  const { words } = await ask((_request, response) => response.writeHead(status, headers).end(body));
  expect(words).toBe(body);
});
