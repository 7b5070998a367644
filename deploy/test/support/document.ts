import { readFileSync } from "node:fs";
import { root } from "./docker.ts";

export function codeBelow(heading: string, document: string): string[] {
  const sections = readFileSync(`${root}/${document}`, "utf8").split(/^#+ /m);
  const section = sections.find((text) => text.startsWith(`${heading}\n`)) ?? "";
  return (section.match(/(?:^(?: {4}.*)?\n)+/gm) ?? [])
    .map((code) => code.replace(/^ {4}/gm, "").trim())
    .filter(Boolean);
}
