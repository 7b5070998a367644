// The part for Next's edge runtime, bundled without Node's modules: an event that is scrubbed and sent by fetch. Exits with 1 without it.
import { createServer } from "node:http";
import { register } from "@culvert/nextjs/server";
import { captureException, flush } from "@sentry/nextjs";

let sent = "";
const proxy = createServer((request, response) => {
  request.on("data", (bytes) => (sent += bytes)).on("end", () => response.end());
}).listen(0, "127.0.0.1", async () => {
  Object.assign(process.env, {
    SENTRY_DSN: "http://culvert@127.0.0.1:9/1",
    SERVER_TUNNEL: `http://127.0.0.1:${proxy.address().port}/envelopes`,
  });
  await register();
  captureException(new Error("jo@example.com failed"));
  await flush();
  const works = sent.includes('"value":"[email] failed"') && sent.includes('"vercel-edge"');
  console.log(`Edge runtime: ${works ? "event arrived" : `failed: ${sent.slice(0, 500)}`}`);
  process.exit(works ? 0 : 1);
});
