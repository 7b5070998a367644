// Runs in web's container: prints its settings, and how its requests ended, as JSON. The argument is a proxy's address.
import { connect } from "node:net";

const [host] = process.argv.slice(2);
const { SENTRY_DSN, SERVER_TUNNEL, SPOOL_UPSTREAM } = process.env;
const ask = (url) =>
  fetch(url, { method: "OPTIONS", signal: AbortSignal.timeout(5000) }).then(
    ({ status }) => status,
    ({ name, cause }) => cause?.code ?? name,
  );
const asked = {};
if (SERVER_TUNNEL) asked.SERVER_TUNNEL = await ask(SERVER_TUNNEL);
if (SPOOL_UPSTREAM) asked.SPOOL_UPSTREAM = await ask(`http://${SPOOL_UPSTREAM}/healthz`);
const isReached = await new Promise((resolve) => {
  const socket = connect({ host, port: 8081, timeout: 5000 });
  for (const event of ["connect", "timeout", "error"]) socket.once(event, () => resolve(event === "connect"));
});
const settings = { SENTRY_DSN, SERVER_TUNNEL, SPOOL_UPSTREAM };
// A resolver that gets no answer would delay the end.
process.stdout.write(`${JSON.stringify({ settings, asked, isReached })}\n`, () => process.kill(process.pid, "SIGKILL"));
