import { Recorder } from "../../deploy/test/support/recorder/client.ts";

function port(name: string): number {
  const value = Number(process.env[name]);
  if (!value) throw new Error(`${name} is not set: start the stack and these tests with deploy/test/run.sh`);
  return value;
}

/** The addresses of the stack under test, as deploy/test/stack.sh started it. */
export const app = {
  origin: `https://localhost:${port("HTTPS_PORT")}`,
  plain: `http://localhost:${port("HTTP_PORT")}`,
  tunnel: process.env.TUNNEL_PATH || "/monitoring",
};

/** The API that web calls. */
export const upstream = new Recorder(`http://127.0.0.1:${port("UPSTREAM_PORT")}`);

/** The ingest, which records everything that it receives. */
export const recorder = new Recorder(`http://127.0.0.1:${port("RECORDER_PORT")}`);
