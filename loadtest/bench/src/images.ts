import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { bench, docker, output, root } from "./docker.ts";
import { handlerPath, tunnelPath } from "./workload.ts";

/** The images of a run. `sink` and `bare` use the proxy's image with their own configuration. */
export const images = {
  proxy: "culvert-bench-proxy",
  spool: "culvert-bench-spool",
  web: "culvert-bench-web",
  nextTunnels: "culvert-bench-next-tunnels",
  serveTunnel: "culvert-bench-serve-tunnel",
  tools: "culvert-bench-tools",
};

/** Builds all images, reusing the layers of the stack's images. Throws with the build's last lines. */
export async function buildImages(): Promise<void> {
  await docker("build", "-t", images.proxy, `${root}/proxy`);
  await docker("build", "-t", images.spool, `${root}/proxy/spool`);
  await docker("build", "-t", images.tools, "-f", `${bench}/Dockerfile`, `${bench}/configs`);
  await buildApp(images.web, `${root}/web`);
  await buildApp(images.nextTunnels, copyWithTunnels());
  await buildApp(images.serveTunnel, `${bench}/serve-tunnel`);
}

/** The same app with two tunnels of `@sentry/nextjs`: a copy of web/ with `tunnelRoute` and a handler. Throws if the option cannot be inserted. */
function copyWithTunnels(): string {
  const copy = `${output}/next-tunnels`;
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  cpSync(`${root}/web`, copy, { recursive: true, filter: (path) => !/\/(node_modules|\.next|e2e)$/.test(path) });
  const file = `${copy}/next.config.ts`;
  const call = "withCulvert(config, {";
  const config = readFileSync(file, "utf8");
  if (!config.includes(call))
    throw new Error(`web/next.config.ts has no '${call}': adapt loadtest/bench/src/images.ts`);
  writeFileSync(file, config.replace(call, `${call} sentry: { tunnelRoute: "${tunnelPath}" },`));
  const route = `${copy}/src/app${handlerPath}`;
  mkdirSync(route);
  writeFileSync(`${route}/route.ts`, 'export { POST } from "@sentry/nextjs/tunnel";\n');
  return copy;
}

async function buildApp(image: string, folder: string): Promise<void> {
  const secret = `--secret=id=build_ca,src=${process.env.BUILD_CA_FILE || "/dev/null"}`;
  await docker("build", secret, "-t", image, folder);
}
