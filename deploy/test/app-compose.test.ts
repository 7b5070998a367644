import { beforeAll, expect, test } from "vitest";
import { run } from "./run.ts";

type Service = Record<string, unknown> & { environment?: Record<string, string | null> };

/** The services of a compose file, with an app of one's own and one project name. */
async function services(file: string): Promise<Record<string, Service>> {
  const command = ["docker", "compose", "-f", file, "-p", "app", "--profile", "*", "config", "--format", "json"];
  const environment = {
    COMPOSE_FILE: "",
    COMPOSE_PROJECT_NAME: "app",
    COMPOSE_ENV_FILES: "/dev/null",
    WEB_IMAGE: "shop",
  };
  const { output } = await run(command, environment);
  return JSON.parse(output).services;
}

let app: Record<string, Service>;
let kit: Record<string, Service>;
beforeAll(async () => {
  [app, kit] = await Promise.all([services("deploy/app/compose.yml"), services("docker-compose.yml")]);
});

/** What an app's stack has of its own. Health checks of Culvert's services are the proxy's only. */
const OWN = ["image", "build", "networks", "volumes", "depends_on", "profiles", "environment"];

test.each(["proxy", "web", "spool", "ingest"])("deploy/app/compose.yml runs %s as docker-compose.yml does", (name) => {
  const { [name]: { environment = {}, ...service } = {} } = app;
  const compared = Object.keys(service).filter((key) => !OWN.includes(key));
  expect(compared).toEqual(expect.arrayContaining(["read_only", "cap_drop", "security_opt", "mem_limit", "logging"]));
  expect(Object.fromEntries(compared.map((key) => [key, service[key]]))).toEqual(
    Object.fromEntries(compared.map((key) => [key, kit[name]?.[key]])),
  );
  // For the package, which not every image has that docker-compose.yml runs.
  const { NEXT_MANUAL_SIG_HANDLE: _, ...shared } = environment;
  expect(kit[name]?.environment ?? {}).toMatchObject(shared);
});
