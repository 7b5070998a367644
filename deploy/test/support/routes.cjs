// Loaded before Next's server: routes of an app that the example app does not have.
const http = require("node:http");
const { createHash } = require("node:crypto");
const { hostname } = require("node:os");

const events = new Set();
const routes = {
  /** What web was told, and a cookie as an app sets it that looks at the scheme. */
  "/test/echo": ({ headers }, response) => {
    const secure = headers["x-forwarded-proto"] === "https" ? "; Secure" : "";
    response
      .setHeader("set-cookie", `session=1; HttpOnly${secure}`)
      .end(JSON.stringify({ ...headers, hostname: hostname() }));
  },
  "/test/redirect": (_, response) => response.writeHead(307, { location: "http://0.0.0.0:3000/trace" }).end(),
  "/test/upload": async (request, response) => {
    const hash = createHash("sha256");
    for await (const chunk of request) hash.update(chunk);
    response.end(hash.digest("hex"));
  },
  /** A stream whose second event waits for /test/proceed. */
  "/test/events": (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: first\n\n");
    events.add(response);
  },
  "/test/proceed": (_, response) => {
    for (const one of events) one.end("data: second\n\n");
    events.clear();
    response.end();
  },
};

const { emit } = http.Server.prototype;
http.Server.prototype.emit = function (name, request, second, ...rest) {
  if (name === "request" && routes[request.url]) return routes[request.url](request, second);
  if (name === "upgrade" && request.url.startsWith("/socket")) {
    // https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2: HAProxy checks it.
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = `Sec-WebSocket-Accept: ${createHash("sha1").update(key).digest("base64")}`;
    second.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${accept}\r\n\r\n`);
    return second.pipe(second).on("error", () => second.destroy());
  }
  return emit.call(this, name, request, second, ...rest);
};
