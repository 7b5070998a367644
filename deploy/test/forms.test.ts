import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { must } from "./run.ts";
import { root } from "./support/docker.ts";

const scripts = join(root, "proxy/entrypoint.d");
const lines =
  readFileSync(join(scripts, "settings.sh"), "utf8")
    .replaceAll("\\\n  ", "")
    .match(/^setting \w+ .*"[^"]*" is.*$/gm) ?? [];
const groups: Record<string, { name: string; example: string }[]> = JSON.parse(
  readFileSync(join(root, "deploy/settings/settings.json"), "utf8"),
);
const examples = new Map(Object.values(groups).flatMap((all) => all.map((one) => [one.name, one.example])));
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

test("no kind of value accepts a character that ends a string, a directive or a line of Nginx, or begins a variable", async () => {
  expect(lines.length).toBeGreaterThan(20);
  const tried = lines.flatMap((line) => {
    const [, name = ""] = line.split(" ");
    const good = examples.get(name) ?? "";
    const bad = ['"', ";", "{", "}", "$", "\\", "\n", "\r", "\t", "\x1b"].flatMap((one) => [one + good, good + one]);
    return [good, ...bad].map((value) => `(${name}=${quoted(value)}; ${line}) 2>/dev/null && echo ${name}`);
  });
  const output = await must(["sh", "-c", `. ${quoted(scripts)}/values.sh\n${tried.join("\n")}\ntrue`]);
  // Each accepts its example, and nothing else.
  expect(output.trim().split("\n")).toEqual(lines.map((line) => line.split(" ")[1]));
});
