import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./support/docker.ts";

/** What else has such a value, with the reason. */
const exceptions: [file: RegExp, line: RegExp][] = [
  // Ports in the containers and of the local ingest, which no setting changes.
  [/./, /:(8443|8080|8969)\b|ingest:8969|(port|PORT|EXPOSE|listen|published \w+)[ =:]+\[?"?(8443|8080|8969|3000)/],
  // Fixed paths of proxy, spool and console; a cluster's proxy does not know HEALTH_PATH.
  [/^proxy\/|^web\/src\/|^loadtest\/(reader|lib\/delivery|ci)|checks\/cluster|kubernetes/, /\/healthz/],
  // The sizes of zones for that many requests; the environment of a cluster.
  [/limits\.sh$|^deploy\/(kubernetes|chart)/, /MAX_CONCURRENT_REQUESTS > |SENTRY_ENVIRONMENT/],
  // Names, and examples in messages.
  [/./, /\blocalhost\b|such as|NODE_ENV|tunnelRoute|_SUBNET|SKEW_KEEP='/],
];

test("a default is written once: changed in settings.json, make settings changes it wherever a program has it", () => {
  const copy = mkdtempSync(join(tmpdir(), "culvert-defaults-"));
  const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" });
  try {
    const files = git("ls-files", "--cached", "--others", "--exclude-standard").trim().split("\n");
    execFileSync("sh", ["-c", `tar -cf - -T - | tar -xf - -C "$1"`, "sh", copy], {
      cwd: root,
      input: files.join("\n"),
    });
    execFileSync("git", ["init", "-q"], { cwd: copy });
    execFileSync("git", ["add", "-A"], { cwd: copy });
    const path = join(copy, "deploy/settings/settings.json");
    const groups = JSON.parse(readFileSync(path, "utf8"));
    const settings: { name: string; type: string; default: string; values?: string[] }[] = Object.values(
      groups,
    ).flat() as never;
    const changed = settings.filter((one) => one.default && !["file", "switch", "choice", "limit"].includes(one.type));
    const old = changed.map((one) => ({ name: one.name, value: one.default }));
    changed.forEach((one, at) => {
      one.default = /^\d/.test(one.default)
        ? one.default.replace(/\d+/, `${7100 + at}`)
        : one.default.replace(/\w+/, `changed${at}`);
    });
    writeFileSync(path, JSON.stringify(groups));
    execFileSync(process.execPath, ["deploy/settings/generate.mjs"], { cwd: copy });
    const programs = files.filter(
      (file) =>
        /\.(ts|tsx|mjs|js|sh|ya?ml|conf|tpl|env)$/.test(file) &&
        !/\.(test|spec)\.|\/(test|e2e|fixtures|bench)\//.test(file),
    );
    const left = programs.flatMap((file) =>
      readFileSync(join(copy, file), "utf8")
        .split("\n")
        .flatMap((line, at) => {
          const code = line.replace(/^\s*(#|\/\/|\*|\/\*).*/, "");
          const found = old.find(
            ({ name, value }) =>
              new RegExp(`(?<![\\w/.-])${value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w.-])`).test(code) &&
              (value.startsWith("/") || code.includes(name)),
          );
          if (!found || exceptions.some(([of, text]) => of.test(file) && text.test(code))) return [];
          return [`${file}:${at + 1}: ${found.name}: ${code.trim()}`];
        }),
    );
    expect(left).toEqual([]);
  } finally {
    rmSync(copy, { recursive: true });
  }
});
