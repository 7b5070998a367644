import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copySources, temporaryFolder } from "./run.ts";

/** What else has such a value, with the reason. */
const exceptions: [file: RegExp, line: RegExp][] = [
  // Ports in the containers and of the local ingest, which no setting changes.
  [/./, /:(8443|8080|8969)\b|ingest:8969|(port|PORT|EXPOSE|listen|published \w+)[ =:]+\[?"?(8443|8080|8969|3000)/],
  // Fixed paths of proxy, spool and console; a cluster's proxy does not know HEALTH_PATH.
  [/^proxy\/|^web\/src\/|^loadtest\/(reader|suite|lib\/delivery|ci)|checks\/cluster|kubernetes/, /\/healthz/],
  // The sizes of zones for that many requests; the environment of a cluster.
  [/limits\.sh$|^deploy\/(kubernetes|chart)/, /MAX_CONCURRENT_REQUESTS > |SENTRY_ENVIRONMENT/],
  // Names, and examples in messages.
  [/./, /\blocalhost\b|such as|NODE_ENV|tunnelRoute|_SUBNET|SKEW_KEEP='/],
];
const programs = ["ts", "tsx", "mjs", "js", "sh", "yml", "yaml", "conf", "tpl", "env"].map((end) => `*.${end}`);
const tests = ["*.test.*", "*.spec.*", ...["test", "e2e", "fixtures", "bench"].map((folder) => `**/${folder}/**`)];
const paths = [...programs, ...tests.map((path) => `:(exclude,glob)${path.replace(/^\*\./, "**/*.")}`)];

const copy = temporaryFolder();
const isWord = ({ type }: Setting) => ["switch", "choice", "limit"].includes(type);
type Setting = Record<"name" | "type" | "default", string> & { values?: string[] };

test("a default is written once: changed in settings.json, make settings changes it wherever a program has it", async () => {
  await copySources(copy, ".");
  const inCopy = (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: copy, encoding: "utf8" }).stdout;
  inCopy("git", "init", "-q");
  inCopy("git", "add", "-A");
  const path = join(copy, "deploy/settings/settings.json");
  const groups: Record<string, Setting[]> = JSON.parse(readFileSync(path, "utf8"));
  const changed = Object.values(groups)
    .flat()
    .filter((setting) => setting.default && setting.type !== "file");
  const old = changed.map((setting) => ({ ...setting, value: setting.default }));
  changed.forEach((setting, at) => {
    const isNumber = /^\d/.test(setting.default);
    const other = (setting.values ?? ["on", "off"]).find((value) => value !== setting.default) ?? "";
    setting.default = isWord(setting)
      ? other
      : setting.default.replace(isNumber ? /\d+/ : /\w+/, isNumber ? `${7100 + at}` : `changed${at}`);
  });
  writeFileSync(path, JSON.stringify(groups));
  inCopy("node", "deploy/settings/generate.mjs");
  const left = old.flatMap(({ value, ...setting }) => {
    const { name } = setting;
    const text = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    // Words such as `off` are not defaults everywhere.
    const pattern = isWord(setting) ? `${name}(:-| \\|\\| ["']|", ")${text}\\b` : `(?<![\\w/.-])${text}(?![\\w.-])`;
    const lines = inCopy("git", "grep", "--line-number", "--perl-regexp", "-e", pattern, "--", ...paths).split("\n");
    return lines.filter((line) => {
      const [, file = "", code = ""] = /^(.+?):\d+:(?!\s*(?:#|\/\/|\*|\/\*))(.*)/.exec(line) ?? [];
      const isException = exceptions.some(([files, text]) => files.test(file) && text.test(code));
      return file && (value.startsWith("/") || code.includes(name)) && !isException;
    });
  });
  expect(left).toEqual([]);
  const started = changed.find(({ name }) => name === "START_TIMEOUT")?.default ?? "";
  for (const file of ["settings.json", "../../docker-compose.yml", "../app/compose.yml", "../settings/defaults.env"])
    expect(readFileSync(join(copy, "deploy/kubernetes", file), "utf8"), file).toContain(started);
});
