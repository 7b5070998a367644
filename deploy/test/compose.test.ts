import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lastLine, runApart, temporary } from "./run.ts";
import { docker, label, restricted, root } from "./support/docker.ts";

type Service = Record<string, unknown> & { environment?: Record<string, string> };
type Settings = Record<string, string>;
interface Config {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
}

async function readConfig(settings: Settings): Promise<Config> {
  const command = ["docker", "compose", "-p", "app", "config", "--format", "json"];
  return JSON.parse((await runApart(command, { COMPOSE_FILE: "docker-compose.yml", ...settings })).output);
}
const config = async (settings: Settings = {}) => (await readConfig(settings)).services;
const membersOf = (services: Config["services"], network: string) =>
  Object.keys(services).filter((name) => network in ((services[name]?.networks ?? {}) as object));
const services = await config();
const SENTRY_DSN = "https://key@o1.ingest.sentry.io/2";

test("every service is hardened, health-checked and limited", async () => {
  const services = await config({ ACME: "on" });
  expect(Object.keys(services).sort()).toEqual(["acme", "ingest", "proxy", "spool", "web"]);
  for (const service of Object.values(services)) {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      restart: "unless-stopped",
      pids_limit: 512,
      mem_limit: expect.anything(),
      healthcheck: { test: expect.any(Array) },
      logging: { driver: "json-file", options: { "max-size": "20m", "max-file": "5" } },
    });
  }
});

test("an empty setting of proxy, spool and ingest is the same as none", async () => {
  const names = Object.keys({ ...services.proxy?.environment, ...services.spool?.environment });
  const empty = await config(Object.fromEntries(names.map((name) => [name, ""])));
  for (const name of ["proxy", "spool", "ingest"]) expect(empty[name]).toEqual(services[name]);
});

test("acme is alone in its network and gets no DSN; the proxy cannot write its certificates", async () => {
  const all = await config({ ACME: "on" });
  expect([Object.keys(all.acme?.networks ?? {}), membersOf(all, "acme")]).toEqual([["acme"], ["acme"]]);
  expect(all.acme?.environment).not.toHaveProperty("SENTRY_DSN");
  expect(all.proxy?.volumes).toContainEqual(expect.objectContaining({ target: "/srv/certificates", read_only: true }));
});

test.each([
  { COMPOSE_PROFILES: "monitoring", SENTRY_DSN: "", more: ["grafana", "ingest", "prometheus"] },
  { COMPOSE_PROFILES: "monitoring", SENTRY_DSN, more: ["grafana", "prometheus"] },
])("the DSN alone decides on the local ingest, whatever the profiles: %j", async ({ more, ...environment }) => {
  const services = await config(environment);
  expect(Object.keys(services).sort()).toEqual(["proxy", "spool", "web", ...more].sort());
  // Without a login, so for this machine only.
  for (const name of more) expect(services[name]?.ports, name).toMatchObject([{ host_ip: "127.0.0.1" }]);
});

test("only the proxy is published; it and the spool know the internal network", () => {
  expect(services.proxy?.ports).toMatchObject([{ published: "8443" }, { published: "8443" }, { published: "8080" }]);
  for (const name of ["web", "spool"]) expect(services[name]?.ports).toBeUndefined();
  for (const name of ["proxy", "spool"])
    expect(services[name]?.environment).toMatchObject({ INTERNAL_NETWORK: "app_inside" });
});

test.each([
  ["", "", "egress-off"],
  ["", "shop:1", "egress-on"],
  ["off", "shop:1", "egress-off"],
  ["on", "", "egress-on"],
])("with WEB_EGRESS=%j and WEB_IMAGE=%j web is in `inside`, and alone in %s", async (WEB_EGRESS, WEB_IMAGE, egress) => {
  const { services, networks } = await readConfig({ WEB_EGRESS, WEB_IMAGE });
  const members = ["inside", egress, "outside"].map((network) => membersOf(services, network));
  expect(members).toEqual([["proxy", "spool", "web"], ["web"], expect.not.arrayContaining(["web"])]);
  const isInternal = ["inside", egress, "outside"].map((network) => networks[network]?.internal ?? false);
  expect(isInternal).toEqual([true, egress !== "egress-on", false]);
  // An internal network cannot publish a port or reach the ingest.
  expect(members[2]).toEqual(expect.arrayContaining(["proxy", "spool"]));
});

test("a DSN of your own replaces ingest, console and sample rate, and nothing else", async () => {
  const real = await config({ SENTRY_DSN });
  const { ingest: _, ...others } = services;
  const extra = (name: string) => (name === "web" ? { CONSOLE: "off", SENTRY_TRACES_SAMPLE_RATE: "0.1" } : {});
  const expected = Object.entries(others).map(([name, service]) => [
    name,
    { ...service, environment: { ...service.environment, SENTRY_DSN, ...extra(name) }, labels: real[name]?.labels },
  ]);
  expect(real).toEqual(Object.fromEntries(expected));
});

/** What compose sets for web of what the image may set: the proxy has these, too, or they are the addresses of this stack. */
const FIXED = ["BASE_PATH", "SENTRY_DSN", "SERVER_TUNNEL", "SPOOL_UPSTREAM", "TUNNEL_PATH"];

test("what an image sets for itself stays: web has no variable that neither .env nor make up sets", async () => {
  const variables = async (settings: Settings) =>
    (await config({ WEB_IMAGE: "shop", ...settings })).web?.environment ?? {};
  expect(Object.keys(await variables({}))).toEqual(FIXED);
  const files = {
    SENTRY_DSN,
    INGEST_CA_FILE: "/ca.pem",
    WEB_RELEASE: "shop@1.4 x",
  };
  expect(await variables(files)).toMatchObject({
    SENTRY_TRACES_SAMPLE_RATE: "0.1",
    NODE_EXTRA_CA_CERTS: "/run/secrets/ingest_ca",
    SENTRY_RELEASE: "shop@1.4 x",
  });
  const names = readFileSync(join(root, "deploy/web/settings.env"), "utf8").match(/^[A-Z_]+$/gm) ?? [];
  const all = Object.fromEntries(names.map((name) => [name, `${name} of .env`]));
  expect(await variables({ ...files, ...all })).toMatchObject(all);
});

test("only web gets the shared cache's password, and no image contains it", async () => {
  const { web, ...others } = await config({ CACHE_URL: "redis://cache:6379", CACHE_PASSWORD: "s3cret" });
  expect(web?.environment).toMatchObject({ CACHE_URL: "redis://cache:6379", CACHE_PASSWORD: "s3cret" });
  expect(JSON.stringify([web?.build, others])).not.toContain("s3cret");
});

test.each([
  "docker-compose.yml",
  ...["app", "http", "container"].map((front) => `docker-compose.yml:deploy/front/${front}.yml`),
])("of the settings in .env.example, doctor names none, with %s", async (COMPOSE_FILE) => {
  const example = readFileSync(join(root, ".env.example"), "utf8");
  const COMPOSE_ENV_FILES = temporary("env", example.replace(/^#(?=[A-Z_]+=)/gm, ""));
  const script =
    ". deploy/lib.sh; . deploy/checks/host/facts.sh; check_file() { :; }; check_settings; check_compose; unread_names; spaced_names";
  expect(await runApart(["sh", "-euc", script], { COMPOSE_FILE, COMPOSE_ENV_FILES })).toEqual({ code: 0, output: "" });
});

test("an invalid setting stops web with a one-line error, its last line", async () => {
  // Other settings: web/telemetry/settings.
  const image = `${process.env.COMPOSE_PROJECT_NAME}-web`;
  const options = [...restricted, "--rm", label, "--network=none", "--tmpfs=/tmp:uid=1000"];
  const { code, output } = await docker("run", ...options, "--env=SENTRY_TRACES_SAMPLE_RATE=2", image);
  expect(lastLine(output), output).toMatch(/^culvert: SENTRY_TRACES_SAMPLE_RATE '2' .*from 0 to 1/);
  expect(code).toBe(1);
});

/** What an app's stack has of its own. Health checks of Culvert's services are the proxy's only. */
const OWN = ["image", "build", "networks", "volumes", "depends_on", "profiles", "environment"];

test.each(["proxy", "web", "spool", "ingest"])("the stack of deploy/app runs %s as this one", async (name) => {
  const settings = { WEB_IMAGE: "shop", COMPOSE_PROFILES: "*" };
  const COMPOSE_FILE = "deploy/app/compose.yml:deploy/app/compose.override.yml";
  const { environment = {}, ...service } = (await config({ ...settings, COMPOSE_FILE }))[name] ?? {};
  const kit = (await config(settings))[name];
  const compared = Object.keys(service).filter((key) => !OWN.includes(key));
  expect(compared).toEqual(expect.arrayContaining(["read_only", "cap_drop", "security_opt", "mem_limit", "logging"]));
  for (const key of compared) expect({ [key]: service[key] }).toEqual({ [key]: kit?.[key] });
  // For the package, which not every image has that docker-compose.yml runs.
  const { NEXT_MANUAL_SIG_HANDLE: _, ...shared } = environment;
  expect(kit?.environment ?? {}).toMatchObject(shared);
  // Of proxy and spool, an app's stack leaves out what it has no use for: ACME, and several replicas.
  const missing = Object.keys(kit?.environment ?? {}).filter((setting) => !(setting in environment));
  const unused = { proxy: ["ACME", "WEB", "WEB_SETS"], spool: ["SPOOL_UPSTREAM"] }[name];
  if (unused) expect(missing).toEqual(unused);
});
