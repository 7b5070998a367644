// Writes lists of settings from settings.json: `make settings`. With --check it writes nothing, and fails if a file is not current.
//
// A setting in settings.json:
//   name, type, meaning (25 words at most), example (a valid value, for .env.example and the proxy's fuzz test)
//   services     the containers that get it; `host`: docker-compose.yml or a script of deploy/host reads it
//   default      what the service uses for an empty value; shown: in docs/settings.md, if it needs words
//   common       it is in .env.example
//   compose      its value in docker-compose.yml; false: compose does not set it
//   kubernetes   its value in the chart; "default": that; "manifest": a template sets it; false: compose only
//   min, max, unit, values, fix   what the check of its type needs
//   form         its definition in the chart's schema, if it is not the type's
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");
const groups = JSON.parse(read("deploy/settings/settings.json"));
const all = Object.values(groups).flat();
const of = (service) => all.filter(({ services }) => services.includes(service));
/** What programs use for an empty value. Compose has decided before if a setting has a value of its own there. */
const defaults = Object.fromEntries(
  all
    .filter((setting) => setting.default && setting.type !== "file" && !setting.compose)
    .map((setting) => [setting.name, setting.default]),
);
const defaultsHead = "What an empty setting means: written by `make settings`.";
const head = "Written by `make settings` from deploy/settings/settings.json.";

/** The files, each with the function that returns its text: from the old text, if only a part is written. */
const files = {
  "docs/settings.md": settingsPage,
  ".env.example": exampleOfEnv,
  "docker-compose.yml": composeFile,
  "deploy/images.yml": composeFile,
  "deploy/front/container.yml": composeFile,
  "deploy/front/http.yml": composeFile,
  "web/telemetry/cli/templates/compose.yml": composeFile,
  "web/telemetry/cli/templates/compose.override.yml": composeFile,
  "deploy/web/settings.env": namesForWeb,
  "proxy/entrypoint.d/settings.sh": proxySettings,
  "deploy/kubernetes/settings.json": chartSettings,
  "deploy/kubernetes/values.schema.json": chartSchema,
  "deploy/settings/defaults.env": defaultsForScripts,
  "deploy/checks/defaults.ts": () => defaultsIn("deploy/checks"),
  "loadtest/lib/defaults.ts": () => defaultsIn("loadtest"),
  "proxy/spool/src/defaults.ts": () => defaultsIn("proxy/spool"),
  "web/src/defaults.ts": () => defaultsIn("web/src"),
  "web/telemetry/settings/defaults.ts": () => defaultsIn("web/telemetry"),
  // What is a DSN, for a package that cannot import the spool.
  "web/telemetry/settings/dsn-parts.ts": copyOfDsn,
};

function settingsPage() {
  const shown = ({ default: value, shown = value && `\`${value}\`` }) => (shown ? ` (${shown})` : "");
  const entry = (setting) => `- **\`${setting.name}\`**${shown(setting)}: ${setting.meaning}\n`;
  const { Internal: internal, ...documented } = groups;
  return `<!-- ${head} -->
# Settings

For operators and platform teams: every setting, with its default in parentheses.

- With compose, put settings in \`.env\` ([examples](../.env.example)). A variable of the shell overrides it once.
- On Kubernetes, set them in the chart's value [\`settings\`](../deploy/kubernetes/README.md#day-two). It rejects some,
  such as \`SENTRY_DSN\`, \`TLS_*\` and \`HTTP3\`.
- An invalid value stops the container with one line that names the setting.
- A value with \`$\`, \`#\` or spaces stands in single quotes: \`CACHE_PASSWORD='pa$word'\`. Elsewhere, Compose replaces \`$word\` by that variable.
- Several values are separated by spaces. [What happens above a limit](../proxy/README.md#limits-and-timeouts).

${Object.entries(documented)
  .map(([group, settings]) => `## ${group}\n\n${settings.map(entry).join("")}\n`)
  .join("")}## Internal

Compose and the chart set these: ${internal.map(({ name }) => `\`${name}\``).join(", ")}.
`;
}

function exampleOfEnv() {
  const common = all.filter((setting) => setting.common);
  return `# Copy to .env and set what you need. Every default works. All settings: docs/settings.md.
# A value with $, # or spaces stands in single quotes: NAME='pa$word'. ${head}

${common.map((setting) => `# ${plain(setting.meaning)}\n#${setting.name}=${setting.example}\n`).join("\n")}`;
}

/** The text of a meaning, without Markdown. */
function plain(markdown) {
  return markdown
    .replace(/ \(\[[^\]]+\]\([^)]*\)\)/g, "")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "");
}

/** Writes the parts of a compose file that are marked with `make settings`: see the three functions below. */
function composeFile(text) {
  return withDefaults(withHealthCheck(withEnvironments(text)));
}

/** Below `environment: # from …`: a service's settings. */
function withEnvironments(text) {
  return replaceBelow(text, "deploy/settings/settings.json, by make settings", (before) => {
    const service = [...before.matchAll(/^ {2}(\w+):$/gm)].at(-1)[1];
    const settings = of(service).filter((setting) => setting.compose !== false && !isWebOnly(setting));
    if (settings.length === 0) fail(`docker-compose.yml: ${service} has no setting in settings.json`);
    return settings.map((setting) => `${setting.name}: ${setting.compose ?? composeValue(setting, service)}`.trimEnd());
  });
}

/** An empty setting is the same as none, so that no container is replaced for it. */
function composeValue({ name, type }, service) {
  if (type === "file") return `\${${name}:+/run/secrets/${name.toLowerCase().replace(/_file$/, "")}}`;
  // Without a value, the image's variable is removed: the proxy, which has this setting, too, does not know it.
  return service === "web" ? "" : `\${${name}:-}`;
}

function isWebOnly({ services, compose }) {
  return `${services}` === "web" && compose === undefined;
}

/** Below `- | # …health-check.cjs`: the program. Mounted, it would not be a part of compose's hash. */
function withHealthCheck(text) {
  const lines = read("deploy/web/health-check.cjs")
    .split("\n")
    .filter((line) => !/^ *(\/\/.*)?$/.test(line));
  return replaceBelow(text, "health-check.cjs, by .*make settings", () =>
    lines.map((line) => line.replaceAll("$", "$$$$")),
  );
}

/** In a line that ends with `# by make settings`: the default in `${NAME:-default}`. */
function withDefaults(text) {
  const write = (given, name) => (defaults[name] ? `\${${name}:-${defaults[name]}}` : given);
  return text.replace(/^.*# by .*make settings$/gm, (line) => line.replace(/\$\{(\w+):-[^{}]*\}/g, write));
}

/** Replaces all that is indented below a line that ends with a mark. `lines` gets the text before it. */
function replaceBelow(text, mark, lines) {
  return text.replace(new RegExp(`^( *)(.*# .*${mark})\\n(?:\\1 .*\\n)*`, "gm"), (_, indent, start, at) =>
    [start, ...lines(text.slice(0, at)).map((line) => `  ${line}`)].map((line) => `${indent}${line}\n`).join(""),
  );
}

/** Compose leaves a name without a value out if nothing sets it; in `environment` it removes the image's variable. */
function namesForWeb() {
  const names = all.filter(isWebOnly).map(({ name }) => name);
  return `# Settings that only web reads: without one, the image's own value stays. ${head}\n${names.join("\n")}\n`;
}

function proxySettings() {
  const lines = of("proxy").map(
    (setting) => `setting ${[setting.name, ...proxyCheck(setting)].map(quoted).join(" ")}\n`,
  );
  return `# shellcheck shell=sh
# The settings: name, default, type, and what its check in values.sh needs. \`nginx -t\` would accept almost anything.
# ${head}
${lines.join("")}`;
}

function proxyCheck({ type, default: value, fix = "", unit, values = ["on", "off"], min = 1, max }) {
  if (type === "switch" || type === "choice") return [value, "choice", unit ?? "switch", values.join("|")];
  if (max) return [value, type, unit, min, max];
  return fix ? [value, type, fix] : [value, type];
}

function quoted(value) {
  if (/^[\w./:@-]+$/.test(value)) return value;
  return /'/.test(value) ? `"${value}"` : `'${value}'`;
}

const pods = ["proxy", "web", "spool"];
/** Whether the chart's value `settings` may have it. */
const isInChart = (setting) => setting.kubernetes !== false && setting.kubernetes !== "manifest";

/** For its pods, and what its templates read. */
function chartSettings() {
  const value = ({ kubernetes = "", default: other }) => (kubernetes === "default" ? other : kubernetes);
  const settings = (pod) =>
    of(pod)
      .filter(isInChart)
      .map((setting) => [setting.name, value(setting)]);
  const read = ["defaults", defaultsNamed("deploy/kubernetes/templates")];
  const parts = [...pods.map((pod) => [pod, settings(pod)]), read];
  return json(Object.fromEntries(parts.map(([name, entries]) => [name, Object.fromEntries(entries)])));
}

/** In the schema of the chart's values: `settings`. Its definitions say what each form is. */
function chartSchema(text) {
  const property = ({ type, form = type, values, meaning }) => ({
    description: plain(meaning),
    ...(type === "choice" ? { enum: ["", ...values] } : { $ref: `#/definitions/${form}Setting` }),
  });
  const settings = pods
    .flatMap(of)
    .filter(isInChart)
    .map((setting) => [setting.name, property(setting)]);
  const schema = JSON.parse(text);
  schema.properties.settings.properties = Object.fromEntries(settings);
  return json(schema);
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** What scripts get from `setting NAME`. */
function defaultsForScripts() {
  const code = codeOf("*.sh");
  const used = Object.entries(defaults).filter(([name]) => code.includes(`setting ${name})`));
  return `# ${defaultsHead}\n${used.map((pair) => `${pair.join("=")}\n`).join("")}`;
}

/** What the programs in a folder read. An image or package has no other folder's files. */
function defaultsIn(folder) {
  const lines = defaultsNamed(`${folder}/*.ts`).map(([name, value]) => `  ${name}: "${value}",\n`);
  return `// ${defaultsHead}\nexport const defaults = {\n${lines.join("")}};\n`;
}

/** The defaults that these files read as `defaults.NAME`. */
function defaultsNamed(files) {
  const code = codeOf(files);
  return Object.entries(defaults).filter(([name]) => code.includes(`defaults.${name}`));
}

function copyOfDsn() {
  const code = read("proxy/spool/src/dsn.ts").replace(/^ *\/[/*].*\n/gm, "");
  return `// Copied by \`make settings\` from proxy/spool/src/dsn.ts, which has the comments.\n\n${code}`;
}

/** Ends the program for a setting that settings.json describes badly. */
function validate() {
  const names = all.map(({ name }) => name);
  for (const setting of all) {
    for (const field of ["services", "type", "default", "example", "meaning"])
      if (setting[field] === undefined) fail(`${setting.name} has no ${field} in settings.json: add it`);
    const words = setting.meaning.replace(/\]\([^)]*\)/g, "").split(/\s+/).length;
    if (words > 25) fail(`${setting.name}'s meaning has ${words} words: shorten it to 25`);
    if (names.indexOf(setting.name) !== names.lastIndexOf(setting.name))
      fail(`${setting.name} is twice in settings.json: remove one`);
  }
}

/** What reads the settings of each service. */
const readers = {
  host: ["docker-compose.yml", "deploy/images.yml", "deploy/host", "deploy/lib.sh"],
  proxy: ["proxy/entrypoint.sh", "proxy/entrypoint.d", "proxy/templates", ":!*/settings.sh"],
  spool: ["proxy/spool/src/settings.ts"],
  // docker-compose.yml and its health check have START_TIMEOUT and HEALTH_PATH.
  web: ["web/src/settings.ts", "web/telemetry/settings/settings.ts", "web/cache-handler.mjs", "docker-compose.yml"],
  acme: ["deploy/acme"],
  prometheus: ["deploy/monitoring"],
};
/** Compose and Node read these themselves. */
const readByOthers = /^COMPOSE_|^NODE_EXTRA_CA_CERTS$/;

/** Ends the program for a setting that a service gets but does not read: it would be replaced when that changes. */
function validateReaders() {
  for (const [service, paths] of Object.entries(readers)) {
    const code = codeOf(...paths);
    const unread = of(service).find(({ name }) => !readByOthers.test(name) && !new RegExp(`\\b${name}\\b`).test(code));
    if (unread)
      fail(`${unread.name} is given to ${service}, which does not read it: remove the service in settings.json`);
  }
}

/** Ends the program for a name that compose or a script reads, and that is no setting. */
function validateNames() {
  const [, unknown] =
    [
      ...codeOf("docker-compose.yml", "deploy/images.yml").matchAll(/\$\{([A-Z][A-Z0-9_]*)/g),
      ...codeOf("deploy/host").matchAll(/\$\(setting ([A-Z][A-Z0-9_]*)/g),
    ].find(([, name]) => !readByOthers.test(name) && !all.some((setting) => setting.name === name)) ?? [];
  if (unknown) fail(`${unknown} is read, but not in settings.json: add it`);
}

/** The lines of these files without comments, and without what compose passes on. */
function codeOf(...paths) {
  const left = ["grep", "--untracked", "-hvE", "^ *(#|//|[*]|/[*])|^ {6}[A-Z_]+:"];
  return execFileSync("git", [...left, "--", ...paths], { cwd: root, encoding: "utf8" });
}

function fail(line) {
  console.error(`settings: ${line}`);
  process.exit(1);
}

validate();
validateReaders();
validateNames();
for (const [path, write] of Object.entries(files)) {
  const old = existsSync(new URL(path, root)) ? read(path) : "";
  const isPart = write.length > 0;
  if (isPart && /^<{7} /m.test(old)) fail(`${path} has conflict marks: keep either side, then run make settings`);
  const text = write(old);
  if (text === old) continue;
  if (process.argv.includes("--check")) fail(`${path} is not current: run make settings`);
  writeFileSync(new URL(path, root), text);
  console.log(`settings: wrote ${path}`);
}
