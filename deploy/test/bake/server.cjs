const { NAME, SHARE } = process.env;
// Healthy for itself, broken for the proxy; `misled` not until it is in use, and at HEALTH_PATH only.
const isUnavailable = (url, { "x-request-id": id }) =>
  NAME === "sick" ||
  (id !== undefined && (NAME === "unreachable" || (NAME === "misled" && id !== "trial" && url === "/ready")));
let pages = 0;
const failures = (count) => Math.floor((count * SHARE) / 100);

const server = require("node:http")
  .createServer(({ url, headers }, response) => {
    // It is about to be killed.
    if (!server.listening) return response.writeHead(500).end();
    response.setHeader("x-nextjs-deployment-id", NAME);
    if (isUnavailable(url, headers)) return response.writeHead(503).end();
    if (url === "/healthz") return response.end();
    if (url.startsWith("/name")) return response.end(NAME);
    if (url === "/slow") return setTimeout(() => response.end(NAME), 100);
    if (url === "/crash") throw new Error("crashed by a request");
    pages += 1;
    response.writeHead(failures(pages) > failures(pages - 1) ? 500 : 200).end(NAME);
  })
  .listen(3000);
// Process 1 would ignore it.
process.once("SIGTERM", () => server.close());
