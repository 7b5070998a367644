const { NAME, SHARE } = process.env;
// Healthy for itself, broken for the proxy.
const isUnavailable = ({ "x-request-id": id }) => NAME === "unreachable" && id !== undefined;
let pages = 0;
const failures = (count) => Math.floor((count * SHARE) / 100);

const server = require("node:http")
  .createServer(({ url, headers }, response) => {
    if (isUnavailable(headers)) return response.writeHead(503).end();
    if (url === "/healthz") return response.end();
    if (url === "/crash") throw new Error("crashed by a request");
    pages += 1;
    response.writeHead(failures(pages) > failures(pages - 1) ? 500 : 200).end(NAME);
  })
  .listen(3000);
// Process 1 would ignore it.
process.once("SIGTERM", () => server.close());
