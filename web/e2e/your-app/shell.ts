import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Settings of the tests' stack are none of an app's: deploy/test/stack.sh exports them. */
const FOREIGN =
  /^(?:COMPOSE_|SENTRY_|HTTPS?_PORT|TUNNEL_PATH|CONSOLE|REGION|UPSTREAM_URL|CONTENT_SECURITY_POLICY|WEB_)/;

/** Runs a command line in a terminal of its own, in which each question is answered with yes. Throws with its output if it fails. */
export async function must(command: string, cwd: string, environment: Record<string, string> = {}): Promise<string> {
  const own = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  const env = { ...Object.fromEntries(own), ...environment };
  // `script` makes the terminal.
  const child = promisify(execFile)("script", ["-qec", command, "/dev/null"], { cwd, env, maxBuffer: 64 << 20 });
  child.child.stdin?.end("y\n");
  try {
    return (await child).stdout;
  } catch (error) {
    throw new Error(`${command}: ${(error as { stdout?: string }).stdout}`);
  }
}
