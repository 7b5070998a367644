/** An app's server with `serveTunnelIntegration` of the SDK: SENTRY_DSN and TUNNEL_PATH are its settings. */
import { createServer } from "node:http";
import { init, serveTunnelIntegration } from "@sentry/node";

const { SENTRY_DSN: dsn, TUNNEL_PATH: path = "/monitoring", SENTRY_TRACES_SAMPLE_RATE: rate = "0.1" } = process.env;
init({ dsn, tracesSampleRate: Number(rate), integrations: [serveTunnelIntegration({ path })] });

const server = createServer((_request, response) => response.end("ok\n"));
server.listen(3000);
process.once("SIGTERM", () => server.close());
