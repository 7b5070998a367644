// The server's part: settings for the browser in a document, and an event that is sent after SIGTERM, scrubbed. Exits with 1 without them.
import { once } from "node:events";
import { createServer } from "node:http";
import { register } from "@culvert/nextjs/server";
import { captureException } from "@sentry/nextjs";

async function run() {
  const proxy = createServer();
  const site = createServer((_, response) => response.end());
  for (const server of [proxy, site]) await once(server.listen(0, "127.0.0.1"), "listening");
  Object.assign(process.env, {
    SENTRY_DSN: "http://culvert@127.0.0.1:9/1",
    SERVER_TUNNEL: `http://127.0.0.1:${proxy.address().port}/envelopes`,
    NEXT_MANUAL_SIG_HANDLE: "true",
  });
  await register();
  const headers = { accept: "text/html", connection: "close" };
  const page = await fetch(`http://127.0.0.1:${site.address().port}`, { headers });
  const settings = page.headers.get("server-timing") ?? "";

  let sent = "";
  proxy.on("request", (request, response) => {
    request.on("data", (bytes) => (sent += bytes)).on("end", () => response.end());
  });
  process.on("exit", () => {
    const works = settings.includes("tunnel=%2Fmonitoring") && sent.includes('"value":"[email] failed"');
    console.log(
      `Node ${process.version}: ${works ? "settings and event arrived" : `failed: ${settings} ${sent.slice(0, 500)}`}`,
    );
    if (!works) process.exitCode = 1;
  });
  captureException(new Error("jo@example.com failed"));
  process.kill(process.pid, "SIGTERM");
}
run();
