import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { docker, label, type Outcome } from "../../deploy/test/support/docker.ts";
import { publicFolder } from "./use-proxy.ts";

/** Checks the configuration for real; instead of serving, says what the ingest's address has become. */
const nginx = `#!/bin/sh
[ "$1" = -g ] || exec /usr/sbin/nginx "$@"
first() { sed -n '1{s/^"envelope 1" /1 /; s/^1 //; s/;.*//; p}' "/tmp/nginx/ingest/$1"; }
/usr/sbin/nginx -t -q && echo "started for $(first scheme)://$(first host)$(first path)"
`;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Runs this command of an image with each of these settings, one after the other in one container; returns how each ended. */
export async function inTurn(
  image: string,
  command: string,
  all: Record<string, string>[],
  options: string[],
): Promise<Outcome[]> {
  const folder = publicFolder();
  const run = all.map((settings) => {
    const assignments = Object.entries(settings).map(([name, value]) => `${name}=${quoted(value)}`);
    const start = `setsid env ${assignments.join(" ")} ${command} >/tmp/said 2>&1 & wait $!`;
    // What it leaves in the background would write among the lines of the next one.
    return `${start}; printf '\\036%s\\n' $?; kill -9 -$! 2>/dev/null; cat /tmp/said`;
  });
  writeFileSync(join(folder, "nginx"), nginx, { mode: 0o755 });
  writeFileSync(join(folder, "run"), `PATH=/starts:$PATH\n${run.join("\n")}\n`, { mode: 0o644 });
  const own = [`--volume=${folder}:/starts:ro`, "--entrypoint=sh"];
  const { output } = await docker("run", "--rm", label, "--network=none", ...options, ...own, image, "/starts/run");
  const ended = output.split("\x1e").slice(1);
  return ended.map((one) => {
    const [code, ...lines] = one.split("\n");
    return { code: Number(code), output: lines.join("\n").trim() };
  });
}
