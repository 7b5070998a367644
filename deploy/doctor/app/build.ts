import { failed, ok, type Result, unknown } from "../result.ts";
import type { AppFacts } from "./facts.ts";

/** Checks how the image was built: standalone, with its static files, for this base path. */
export function build({ build, requests, nextVersion, mentions, settings }: AppFacts): Result[] {
  if (!build) {
    const fix = 'output: "standalone", copied to /app';
    return [unknown("build", "no .next/required-server-files.json in /app: not Next.js, or elsewhere", fix)];
  }
  const results: Result[] = [];
  if (Number.parseInt(nextVersion, 10) >= 15) results.push(ok("next", nextVersion));
  else results.push(unknown("next", nextVersion || "version unknown", "tested are 15 and 16"));
  if (build.output === "standalone" && mentions.includes("server.js")) results.push(ok("build", "standalone"));
  else results.push(failed("build", "not standalone, or no /app/server.js", 'output: "standalone" in next.config'));
  const { file, fileStatus, path } = requests;
  const copy = "COPY .next/static and public into the image: standalone leaves them out";
  if (!file) results.push(unknown("static files", `${path} names none`, "PAGE=/path tries another page"));
  else if (fileStatus === 200) results.push(ok("static files", "there"));
  else results.push(failed("static files", `${file} answers ${fileStatus}`, copy));
  const [own, wanted = ""] = [build.basePath, settings.BASE_PATH];
  if (own === wanted) results.push(ok("base path", own || "none"));
  else results.push(failed("base path", `the app has '${own}', BASE_PATH is '${wanted}'`, `BASE_PATH=${own}`));
  return results;
}

/** Checks that open pages notice a release. */
export function deploymentId({ build }: AppFacts): Result[] {
  if (!build) return [];
  const fix = "deploymentId in next.config, another for each build, or build with deploy/app/Dockerfile";
  if (build.deploymentId) return [ok("deploymentId", build.deploymentId)];
  return [unknown("deploymentId", "none: open pages do not notice a release", fix)];
}

/** Next's own limit of a body behind middleware. */
const NEXT_LIMIT = 10 * 1024 ** 2;

/** Checks that bodies reach a page behind middleware whole: Next cuts larger ones without an error. */
export function bodies({ build, hasMiddleware, settings }: AppFacts): Result[] {
  const { proxyClientMaxBodySize, middlewareClientMaxBodySize } = build?.experimental ?? {};
  const size = proxyClientMaxBodySize ?? middlewareClientMaxBodySize;
  if (!hasMiddleware || size !== NEXT_LIMIT || settings.MAX_BODY_SIZE === "10m") return [];
  const name = proxyClientMaxBodySize ? "proxyClientMaxBodySize" : "middlewareClientMaxBodySize";
  const fix = `experimental: { ${name}: "100mb" } in next.config, or MAX_BODY_SIZE=10m`;
  return [unknown("bodies", "behind middleware, Next cuts those above 10 MB without an error", fix)];
}
