// Writes every list of settings from settings.json: `make settings`. With --check it writes nothing, and fails if a list is not current.
//
// A setting in settings.json:
//   name, type, meaning (25 words at most), example (a valid value, for .env.example and the proxy's fuzz test)
//   services     the containers that get it; `host`: docker-compose.yml or a script of deploy/host reads it
//   default      what the service uses for an empty value; shown: in docs/settings.md, if it needs words
//   common       it is in .env.example
//   compose      its value in docker-compose.yml; false: compose does not set it
//   kubernetes   its value in the chart; "manifest": a template sets it; false: compose only
//   min, max, unit, values, fix   what the check of its type needs
//   form         what the chart's schema checks, if it is not the type's
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");
const groups = JSON.parse(read("deploy/settings/settings.json"));
const all = Object.values(groups).flat();
const of = (service) => all.filter(({ services }) => services.includes(service));
const head = "Written by `make settings` from deploy/settings/settings.json.";

const inParentheses = ({ default: value, shown }) => (shown || value ? ` (${shown ?? `\`${value}\``})` : "");
const list = (group, settings) =>
  `## ${group}\n\n` +
  settings.map((one) => `- **\`${one.name}\`**${inParentheses(one)}: ${one.meaning}`).join("\n");
const { Internal: internal, ...documented } = groups;

const document = () => `<!-- ${head} -->
# Settings

For operators and platform teams: every setting, with its default in parentheses.

- With compose, put settings in \`.env\` ([examples](../.env.example)). A variable of the shell overrides it once.
- On Kubernetes, set them in the chart's value [\`settings\`](../deploy/kubernetes/README.md#day-two).
- An invalid value stops the container with one line that names the setting.
- A value with \`$\`, \`#\` or spaces stands in single quotes: \`CACHE_PASSWORD='pa$word'\`. Elsewhere, Compose replaces \`$word\` by that variable.
- Several values are separated by spaces. [What happens above a limit](../proxy/README.md#limits-and-timeouts).

${Object.entries(documented)
  .map(([group, settings]) => list(group, settings))
  .join("\n\n")}

## Internal

Compose and the chart set these: ${internal.map(({ name }) => `\`${name}\``).join(", ")}.
`;

const plain = (markdown) =>
  markdown
    .replace(/ \(\[[^\]]+\]\([^)]*\)\)/g, "")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "");
const example = () =>
  `# Copy to .env and set what you need. Every default works. All settings: docs/settings.md.\n` +
  `# A value with $, # or spaces stands in single quotes: NAME='pa$word'. ${head}\n\n` +
  all
    .filter(({ common }) => common)
    .map((one) => `# ${plain(one.meaning)}\n#${one.name}=${one.example}\n`)
    .join("\n");

const secret = (name) => name.toLowerCase().replace(/_file$/, "");
// An empty setting is the same as none, so that no container is replaced for it. In web, it removes the image's variable: what proxy and web
// share is for .env to say, because the proxy does not know the image.
const composeDefault = ({ name, type }, service) => {
  if (type === "file") return `\${${name}:+/run/secrets/${secret(name)}}`;
  return service === "web" ? "" : `\${${name}:-}`;
};
const isWebOnly = ({ services, compose }) => `${services}` === "web" && compose === undefined;
const composeValue = (setting, service) =>
  `      ${setting.name}: ${setting.compose ?? composeDefault(setting, service)}`.trimEnd();
/** Replaces the block below `environment: # …make settings…` of each service. */
const compose = (text) => {
  let service;
  return text.replace(/^ {2}(\w+):$|^( {4}environment: #.*make settings.*)\n(?: {6}.*\n)*/gm, (line, name, start) => {
    if (name) service = name;
    if (!start) return line;
    const settings = of(service).filter((one) => one.compose !== false && !isWebOnly(one));
    if (settings.length === 0) fail(`docker-compose.yml: ${service} has no setting in settings.json`);
    return `${start}\n${settings.map((one) => composeValue(one, service)).join("\n")}\n`;
  });
};

/** Compose leaves a name without a value out if nothing sets it, as `docker run --env-file` does; in `environment` it removes the image's variable. */
const webEnv = () =>
  `# Settings that only web reads: without one, the image's own value stays. ${head}\n` +
  `${all.filter(isWebOnly).map(({ name }) => name).join("\n")}\n`;

const quoted = (value) => (/^[\w./:@-]+$/.test(value) ? value : `'${value}'`);
/** What a value of each type is called, how to mend it, and the function of proxy/entrypoint.d/values.sh that checks it. */
const range = ({ min = 1, max }) => `use a whole number from ${min} to ${max}`;
const checks = {
  list: ({ fix }) => ['a line without \\" ; { } \\$ \\\\', fix, "is_line"],
  path: ({ fix }) => ["a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next", fix, "is_path"],
  file: () => ["a whole path of A-Z a-z 0-9 / . _ @ + -", "mount the file under another name", "is '/[A-Za-z0-9/._@+-]*'"],
  upstream: ({ fix }) => ["name:port", fix, "is_host_and_port"],
  port: (one) => ["a port", `use a number from 1 to 65535, such as ${one.default}`, "is_port"],
  size: (one) => ["a size", `use a number and a unit (k, m, g), such as ${one.default}`, "is_size"],
  duration: (one) => ["a time", `use a number and a unit (s, m, h, d, w), such as ${one.default}`, "is_time"],
  switch: () => ["a switch", "use on or off", "is 'on|off'"],
  choice: ({ unit, values }) => [`a ${unit}`, `use ${values.slice(0, -1).join(", ")} or ${values.at(-1)}`, `is '${values.join("|")}'`],
  number: (one) => [`a number of ${one.unit}`, range(one), `is_number ${one.min} ${one.max}`],
  limit: (one) => [`a number of ${one.unit}`, `${range(one)}, or off`, `is_limit 1 ${one.max}`],
};
const declaration = (one) => {
  const [kind, fix, check] = checks[one.type]?.(one) ?? [];
  const line = `setting ${one.name} ${quoted(one.default)}`;
  if (!check) return line;
  const end = `"${fix}" ${check}`;
  return line.length + kind.length + end.length > 115 ? `${line} "${kind}" \\\n  ${end}` : `${line} "${kind}" ${end}`;
};
const proxy = (text) => {
  const marks = /(# Written by `make settings`.*\n)[^]*?(# End of what is written\.\n)/;
  if (!marks.test(text))
    fail("proxy/entrypoint.d/settings.sh: the marks of `make settings` are missing: put them back");
  return text.replace(marks, (_, start, end) => `${start}${of("proxy").map(declaration).join("\n")}\n${end}`);
};

const spool = () => {
  const settings = all.filter(({ services }) => `${services}` === "spool");
  const lines = settings.map((one) => `  ${one.name}: "${one.default}",\n`).join("");
  return `// ${head}\n\n/** What an empty setting means. */\nexport const defaults = {\n${lines}};\n`;
};

/** Whether the chart's value `settings` may have it. */
const inChart = (one) => one.kubernetes !== false && one.kubernetes !== "manifest";
const chart = () => {
  const settings = (pod) => Object.fromEntries(of(pod).filter(inChart).map((one) => [one.name, one.kubernetes ?? ""]));
  const pods = ["proxy", "web", "spool"].map((pod) => [pod, settings(pod)]);
  return `${JSON.stringify(Object.fromEntries(pods), null, 2)}\n`;
};

const octet = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
const ipv4 = `${octet}(\\.${octet}){3}(/([0-9]|[12][0-9]|3[0-2]))?`;
const ipv6 = "[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?";
const patterns = {
  number: "^[0-9]*$",
  limit: "^(off|[0-9]*)$",
  port: "^[0-9]*$",
  size: "^([0-9]+[kmg]?)?$",
  duration: "^([0-9]+[smhdw])?$",
  list: '^[^"\\\\;{}$\\x00-\\x1f]*$',
  path: "^(/[A-Za-z0-9_-]+)*$",
  // Forms of lists and texts.
  names: "^[ ,]*([A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?([ ,]+|$))*$",
  networks: `^[ ,]*((${ipv4}|${ipv6})([ ,]+|$))*$`,
  urlPath: "^(/\\S*)?$",
};
const schema = (text) => {
  const values = JSON.parse(text);
  const property = ({ type, form = type, values, meaning }) => ({
    type: "string",
    description: plain(meaning),
    ...(type === "choice" && { enum: ["", ...values] }),
    ...(type === "switch" && { enum: ["", "on", "off"] }),
    ...(patterns[form] && { pattern: patterns[form] }),
  });
  const properties = Object.fromEntries(
    ["proxy", "web", "spool"].flatMap(of).filter(inChart).map((one) => [one.name, property(one)]),
  );
  values.properties.settings = {
    type: "object",
    description: "docs/settings.md",
    additionalProperties: false,
    properties,
  };
  return `${JSON.stringify(values, null, 2)}\n`;
};

/** What is a DSN, for programs that cannot import each other's files. */
const dsn = () => `// Copied by \`make settings\` from proxy/spool/src/dsn.ts.\n\n${read("proxy/spool/src/dsn.ts")}`;

/** Writes each default where a program names its setting: `${NAME:-x}`, `NAME || "x"`, `setting NAME x`, `"x"; // NAME` and so on. */
const defaults = (path, text) =>
  all.reduce((changed, { name, type, default: value, compose }) => {
    if (!value || type === "file" || !changed.includes(name)) return changed;
    const forms = [
      ...(compose ? [] : [`(?<=\\$\\{${name}:-)[^\\s{}$]+(?=\\})`]),
      ...[`(?<=\\b${name} \\|\\| (["']?))(?:(?<=["'])[^"']+|\\d+)`, `(?<=setting ${name} )[^\\s)"]+`],
      ...[`(?<=")[^"]+(?=";? // ${name}$)`, `(?<="${name}"\\) \\?\\? ")[^"]+`],
      ...[`(?<=settings\\.${name} \\| default ")[^"]+`],
      ...(path.startsWith("loadtest/") ? [`(?<=\\("${name}", ")[^"]+`] : []),
    ];
    return changed.replace(new RegExp(forms.join("|"), "gm"), value);
  }, text);
const programs = execFileSync("git", ["ls-files", "*.ts", "*.mjs", "*.sh", "*.tpl", "*.yml"], { cwd: root, encoding: "utf8" })
  .split("\n")
  // With an image of one's own, WEB_EGRESS has another default.
  .filter((path) => path && !/\.(test|spec)\.|\/(test|e2e|fixtures)\/|generate\.mjs|own-app\.yml/.test(path));

const files = {
  "deploy/checks/dsn.ts": dsn,
  "web/telemetry/settings/dsn-parts.ts": dsn,
  "docs/settings.md": document,
  ".env.example": example,
  "docker-compose.yml": compose,
  "deploy/web/settings.env": webEnv,
  "proxy/entrypoint.d/settings.sh": proxy,
  "proxy/spool/src/defaults.ts": spool,
  "deploy/kubernetes/settings.json": chart,
  "deploy/kubernetes/values.schema.json": schema,
};

function fail(line) {
  console.error(`settings: ${line}`);
  process.exit(1);
}

/** What reads each service's settings. */
const readers = {
  proxy: ["proxy/entrypoint.sh", "proxy/entrypoint.d", "proxy/templates"],
  spool: ["proxy/spool/src/settings.ts"],
  // docker-compose.yml: web's health check.
  web: ["web/src/settings.ts", "web/telemetry/settings/settings.ts", "web/cache-handler.mjs", "docker-compose.yml"],
  acme: ["deploy/acme"],
  prometheus: ["deploy/monitoring"],
};
/** Node reads it itself. */
const readByNode = "NODE_EXTRA_CA_CERTS";

/** The text of a file, or of all files below a folder, without comments and what `make settings` writes. */
function source(path) {
  const url = new URL(path, root);
  if (statSync(url).isDirectory())
    return readdirSync(url).map((name) => (name.includes(".test.") ? "" : source(`${path}/${name}`))).join("\n");
  return read(path)
    .replace(/# Written by `make settings`.*\n[^]*?# End of what is written\./, "")
    .replace(/^ *(#|\/\/|\*|\/\*).*$|^ {6}[A-Z_]+:.*$/gm, "");
}

/** Ends the program for a setting that a service gets but does not read: the service would be replaced when it changes. */
function validateReaders() {
  for (const [service, paths] of Object.entries(readers)) {
    const text = paths.map(source).join("\n");
    const unread = of(service).find(({ name }) => name !== readByNode && !new RegExp(`\\b${name}\\b`).test(text));
    if (unread) fail(`${unread.name} is given to ${service}, which does not read it: remove the service in settings.json`);
  }
}

/** Ends the program for a setting that settings.json describes badly, or that is only there or only in use. */
function validate() {
  const names = all.map(({ name }) => name);
  for (const one of all) {
    for (const field of ["services", "type", "default", "example", "meaning"])
      if (one[field] === undefined) fail(`${one.name} has no ${field} in settings.json: add it`);
    const words = one.meaning.replace(/\]\([^)]*\)/g, "").split(/\s+/).length;
    if (words > 25) fail(`${one.name}'s meaning has ${words} words: shorten it to 25`);
    if (names.indexOf(one.name) !== names.lastIndexOf(one.name))
      fail(`${one.name} is twice in settings.json: remove one`);
  }
  const scripts = readdirSync(new URL("deploy/host", root))
    .map((name) => read(`deploy/host/${name}`))
    .join("\n");
  const find = (text, pattern) => [...text.matchAll(pattern)].map(([, name]) => name);
  const used = new Set([
    ...["docker-compose.yml", "deploy/images.yml"].flatMap((path) =>
      find(read(path).replace(/^ *#.*$/gm, ""), /\$\{([A-Z][A-Z0-9_]*)/g),
    ),
    ...find(scripts, /\$\(setting ([A-Z][A-Z0-9_]*)/g),
  ]);
  for (const name of used)
    if (!names.includes(name) && !name.startsWith("COMPOSE_"))
      fail(`${name} is read, but not in settings.json: add it`);
  const unused = of("host").find(({ name }) => !used.has(name) && !name.startsWith("COMPOSE_"));
  if (unused)
    fail(`${unused.name} is in settings.json, but neither docker-compose.yml nor deploy/host reads it: remove it`);
}

validate();
validateReaders();
const check = process.argv.includes("--check");
for (const path of new Set([...Object.keys(files), ...programs])) {
  const write = files[path] ?? ((text) => text);
  let old = "";
  try {
    old = read(path);
  } catch {}
  if (write.length && /^<{7} /m.test(old)) fail(`${path} has conflict marks: keep either side, then run make settings`);
  const text = defaults(path, write(old));
  if (text === old) continue;
  if (check) fail(`${path} is not current: run make settings`);
  writeFileSync(new URL(path, root), text);
  console.log(`settings: wrote ${path}`);
}
