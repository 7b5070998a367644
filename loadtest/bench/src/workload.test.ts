import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { envelope, envelopeBytes, ingestHost, tunnelPath } from "./workload.ts";

const config = (name: string) => readFileSync(new URL(`../configs/${name}`, import.meta.url), "utf8");

test("the envelope is three lines of JSON of the stated size", () => {
  expect(envelope().length).toBe(envelopeBytes);
  expect(
    envelope()
      .split("\n")
      .map((line) => Object.keys(JSON.parse(line))[0]),
  ).toEqual(["event_id", "type", "event_id"]);
});

test.each(["bare.conf", "sink.conf"])("%s sets the variables of the proxy's snippets that it includes", (name) => {
  const snippets = Array.from(
    config(name).matchAll(/include \/etc\/nginx\/(snippets\/[\w-]+\.conf);/g),
    ([, file = ""]) => file,
  );
  const text = snippets
    .map((file) => readFileSync(new URL(`../../../proxy/${file}`, import.meta.url), "utf8"))
    .join("\n");
  const used = new Set(Array.from(text.replace(/#.*/g, "").matchAll(/\$\w+/g), ([variable]) => variable));
  expect(snippets).not.toEqual([]);
  expect([...used].filter((variable) => !config(name).includes(`map "" ${variable} {`))).toEqual([]);
});

test.each(["bare.conf", "haproxy.cfg", "Caddyfile"])("%s tunnels the same path to the same project", (name) => {
  expect(config(name)).toContain(`${tunnelPath}`);
  expect(config(name)).toContain(ingestHost);
  expect(config(name)).toContain("/api/1/envelope/");
});
