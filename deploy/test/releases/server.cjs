const { NAME, CONSOLE } = process.env;
// `unreachable` is healthy for itself, broken for the proxy.
const isUnavailable = (headers) => NAME === "unreachable" && headers["x-request-id"] !== undefined;

const server = require("node:http").createServer(({ url, headers }, response) => {
  // It is about to be killed.
  if (!server.listening) return response.writeHead(500).end();
  response.setHeader("x-nextjs-deployment-id", NAME);
  if (isUnavailable(headers)) return response.writeHead(503).end();
  if (url === "/slow") return setTimeout(() => response.end(NAME), 100);
  if (url === "/" && (NAME === "broken" || CONSOLE === "off")) response.statusCode = 404;
  response.end(NAME);
});
const listen = () => server.listen(3000, NAME === "local" ? "127.0.0.1" : undefined);
const starting = setTimeout(listen, NAME === "late" ? 12_000 : 0);
if (NAME === "late") console.log("migrating");
// Process 1 would ignore it.
process.once("SIGTERM", () => {
  clearTimeout(starting);
  server.close();
});
