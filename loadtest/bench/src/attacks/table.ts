import { figure, table as markdownTable } from "../markdown.ts";
import type { Honest } from "./honest.ts";
import type { Resources } from "./stack.ts";

/** What an honest client saw before, during and after an attack. */
export interface Row extends Resources {
  title: string;
  maxCostMs?: number;
  before: Honest;
  during: Honest;
  after: Honest;
}

/** By default: 300 requests of one client, of 4 ms each. */
const MAX_COST_MS = 1_200;

const phases = ["before", "during", "after"] as const;
const inTurn = (row: Row, show: (honest: Honest) => string) => phases.map((phase) => show(row[phase])).join(" / ");
const time = (milliseconds: number) => (Number.isNaN(milliseconds) ? "–" : figure(milliseconds));

/** The requests that did not get their answer: "12 of 400", or 0. */
function failures(honest: Honest): string {
  const all = Object.values(honest);
  const failed = all.reduce((sum, one) => sum + one.failed, 0);
  return failed ? `${failed} of ${all.reduce((sum, one) => sum + one.requests, 0)}` : "0";
}

/** Whether nothing of the other client failed, and the attack cost its pages no more time than allowed at the median. */
function held({ before, during, maxCostMs = MAX_COST_MS }: Row): boolean {
  const failed = Object.values(during).some((one) => one.failed > 0);
  return !failed && during.page.p50 - before.page.p50 <= maxCostMs;
}

/** The attacks as a table in Markdown; a cell has the figures before, during and after the attack. */
export function table(rows: Row[]): string {
  const head = [
    "Attack of one client",
    "pages, p50 ms",
    "p99 ms",
    "files, p99 ms",
    "forms, p99 ms",
    "envelopes, p99 ms",
  ];
  const cells = rows.map((row) => [
    row.title,
    inTurn(row, ({ page }) => time(page.p50)),
    inTurn(row, ({ page }) => time(page.p99)),
    inTurn(row, ({ file }) => time(file.p99)),
    inTurn(row, ({ form }) => time(form.p99)),
    inTurn(row, ({ envelope }) => time(envelope.p99)),
    inTurn(row, failures),
    String(row.memoryMb),
    held(row) ? "yes" : "**no**",
  ]);
  return markdownTable([...head, "failed", "memory of the proxy, MB", "held"], cells);
}
