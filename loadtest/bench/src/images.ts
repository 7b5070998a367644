import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { bench, docker, output, root } from "./docker.ts";
import { tunnelPath } from "./workload.ts";

/** The images of a run. `sink` and `bare` use the proxy's image with their own configuration. */
export const images = {
  proxy: "culvert-bench-proxy",
  spool: "culvert-bench-spool",
  web: "culvert-bench-web",
  tunnelRoute: "culvert-bench-tunnel-route",
  tools: "culvert-bench-tools",
};

/** Builds all images, reusing the layers of the stack's images. Throws with the build's last lines. */
export async function buildImages(): Promise<void> {
  await docker("build", "-t", images.proxy, `${root}/proxy`);
  await docker("build", "-t", images.spool, `${root}/proxy/spool`);
  await docker("build", "-t", images.tools, "-f", `${bench}/Dockerfile`, `${bench}/configs`);
  await buildApp(images.web, `${root}/web`);
  await buildApp(images.tunnelRoute, copyWithTunnelRoute());
}

/** The same app with the SDK's own tunnel: a copy of web/ that differs in that option. Throws if the option cannot be inserted. */
function copyWithTunnelRoute(): string {
  const copy = `${output}/tunnel-route`;
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  cpSync(`${root}/web`, copy, { recursive: true, filter: (path) => !/\/(node_modules|\.next|e2e)$/.test(path) });
  const file = `${copy}/next.config.ts`;
  const call = "withCulvert(config, {";
  const config = readFileSync(file, "utf8");
  if (!config.includes(call))
    throw new Error(`web/next.config.ts has no '${call}': adapt loadtest/bench/src/images.ts`);
  writeFileSync(file, config.replace(call, `${call} sentry: { tunnelRoute: "${tunnelPath}" },`));
  return copy;
}

async function buildApp(image: string, folder: string): Promise<void> {
  const secret = `--secret=id=build_ca,src=${process.env.BUILD_CA_FILE || "/dev/null"}`;
  await docker("build", secret, "-t", image, folder);
}
