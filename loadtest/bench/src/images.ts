import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { docker } from "./docker.ts";
import { bench, output, root } from "./paths.ts";
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
  await buildStackImages();
  await buildTunnelRoute();
}

/** The images without the SDK's own tunnels. */
export async function buildStackImages(): Promise<void> {
  await docker("build", "--progress=plain", "-t", images.proxy, `${root}/proxy`);
  await docker("build", "--progress=plain", "-t", images.spool, `${root}/proxy/spool`);
  await docker("build", "--progress=plain", "-t", images.tools, "-f", `${bench}/Dockerfile`, `${bench}/configs`);
  await buildApp(images.web, `${root}/web`);
}

/** Builds the app with the SDK's own tunnel; returns the image. */
export async function buildTunnelRoute(): Promise<string> {
  await buildApp(images.tunnelRoute, copyOfWeb("tunnel-route"));
  return images.tunnelRoute;
}

/**
 * The same app with `tunnelRoute`: a copy of web/ that differs in that one option, so that versions, settings and pages
 * are the app's own. Returns its folder; throws if the option cannot be inserted.
 */
function copyOfWeb(name: string): string {
  const copy = `${output}/${name}`;
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  cpSync(`${root}/web`, copy, { recursive: true, filter: (path) => !/\/(node_modules|\.next|e2e)$/.test(path) });
  const file = `${copy}/next.config.ts`;
  writeFileSync(file, withTunnelRoute(readFileSync(file, "utf8")));
  return copy;
}

/** Adds the option to the text of a next.config.ts; throws if it does not contain `withCulvert(config, {`. */
export function withTunnelRoute(config: string): string {
  const call = "withCulvert(config, {";
  if (!config.includes(call))
    throw new Error(`web/next.config.ts has no '${call}': adapt loadtest/bench/src/images.ts to it`);
  return config.replace(call, `${call} sentry: { tunnelRoute: ${JSON.stringify(tunnelPath)} },`);
}

async function buildApp(image: string, folder: string): Promise<void> {
  const secret = `--secret=id=build_ca,src=${process.env.BUILD_CA_FILE || "/dev/null"}`;
  await docker("build", "--progress=plain", secret, "-t", image, folder);
}
