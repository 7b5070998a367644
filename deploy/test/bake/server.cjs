const { NAME, SHARE } = process.env;
let pages = 0;
const failures = (count) => Math.floor((count * SHARE) / 100);

const server = require("node:http")
  .createServer(({ url }, response) => {
    if (url === "/healthz") return response.end();
    if (url === "/crash") throw new Error("crashed by a request");
    pages += 1;
    response.writeHead(failures(pages) > failures(pages - 1) ? 500 : 200).end(NAME);
  })
  .listen(3000);
// Process 1 would ignore it.
process.once("SIGTERM", () => server.close());
