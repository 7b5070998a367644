import { expect, test } from "vitest";
import { sinceProxy } from "./since-proxy";

const NOW = 1_763_600_000_250;

test.each([
  ["t=1763600000.245", 5],
  ["t=1763600000.250", 0],
  ["t=1763600000.251", undefined],
  ["t=1763500000.000", undefined],
  ["t=1763600000", undefined],
  ["1763600000.245", undefined],
  [null, undefined],
])("%s is %s ms ago", (value, ms) => expect(sinceProxy({ get: () => value }, NOW)).toBe(ms));
