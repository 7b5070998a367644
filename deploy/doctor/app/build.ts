import { failed, ok, type Result, unknown } from "../result.ts";
import type { AppFacts } from "./facts.ts";

/** Checks how the image was built: standalone, with its static files, for this base path. */
export function build({ build, hasServer, requests, nextVersion, settings }: AppFacts): Result[] {
  if (!build)
    return [
      unknown(
        "build",
        "no .next/required-server-files.json in /app: not a Next.js build, or elsewhere",
        'output: "standalone", copied to /app',
      ),
    ];
  const results = [next(nextVersion)];
  if (build.output === "standalone" && hasServer) results.push(ok("build", "standalone"));
  else
    results.push(
      failed(
        "build",
        `output is ${build.output || "not set"}${hasServer ? "" : ", no /app/server.js"}`,
        'output: "standalone" in next.config',
      ),
    );
  const { file, fileStatus } = requests;
  if (!file) results.push(unknown("static files", `${requests.path} names none`, "PAGE=/path tries another page"));
  else if (fileStatus === 200) results.push(ok("static files", "there"));
  else
    results.push(
      failed(
        "static files",
        `${file} answers ${fileStatus}`,
        "COPY .next/static and public into the image: standalone leaves them out",
      ),
    );
  const wanted = settings.BASE_PATH ?? "";
  if (build.basePath === wanted) results.push(ok("base path", wanted || "none"));
  else
    results.push(
      failed(
        "base path",
        `the app is built for '${build.basePath}', BASE_PATH is '${wanted}'`,
        `BASE_PATH=${build.basePath}`,
      ),
    );
  return results;
}

function next(version: string): Result {
  const major = Number.parseInt(version, 10);
  if (major >= 15) return ok("next", version);
  return unknown("next", version ? `${version}: tested are 15 and 16` : "version unknown");
}

/** Checks what lets an open page go on after a release. */
export function releases({ build, actions, actionsKey }: AppFacts): Result[] {
  if (!build) return [];
  const deployment = build.deploymentId
    ? ok("deploymentId", build.deploymentId)
    : unknown(
        "deploymentId",
        "none: open pages do not notice a release",
        "deploymentId in next.config, another for each build, or build with deploy/app/Dockerfile",
      );
  if (actions.count === 0) return [deployment, ok("server actions", "none")];
  const found = `${actions.count}, sealed with `;
  if (actionsKey && actions.key === actionsKey)
    return [deployment, ok("server actions", `${found}this deployment's key`)];
  return [
    deployment,
    unknown(
      "server actions",
      `${found}a key of the build`,
      "is it the same for each build? NEXT_SERVER_ACTIONS_ENCRYPTION_KEY",
    ),
  ];
}
