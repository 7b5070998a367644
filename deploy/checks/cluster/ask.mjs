// Runs in web or a spool: prints settings, and how requests ended. The argument is a proxy's address.
import { connect } from "node:net";

const [host] = process.argv.slice(2);
const { SENTRY_DSN, SERVER_TUNNEL, SPOOL_UPSTREAM } = process.env;
const ask = (url) =>
  fetch(url, { method: "OPTIONS", signal: AbortSignal.timeout(5000) }).then(
    ({ status }) => status,
    ({ name, cause }) => cause?.code ?? name,
  );
const reaches = new Promise((resolve) => {
  const socket = connect({ host, port: 8081, timeout: 5000 });
  for (const event of ["connect", "timeout", "error"]) socket.once(event, () => resolve(event === "connect"));
});
const urls = { SERVER_TUNNEL, SPOOL_UPSTREAM: SPOOL_UPSTREAM && `http://${SPOOL_UPSTREAM}/healthz` };
const asking = Object.entries(urls).map(async ([name, url]) => [name, url && (await ask(url))]);
const [isReached, ...asked] = await Promise.all([reaches, ...asking]);
const said = { settings: { SENTRY_DSN, SERVER_TUNNEL, SPOOL_UPSTREAM }, asked: Object.fromEntries(asked), isReached };
// kubectl reports a signal as an error.
process.stdout.write(`${JSON.stringify(said)}\n`, () => process.exit());
