import { describe, expect, test } from "vitest";
import { propagationTargets } from "./propagation.js";

const targets = propagationTargets(["https://api.example.com:8443", "http://second.example"]);
const isTarget = (address: string) => targets.some((target) => target.test(address));

describe("only the named origins are sent trace headers", () => {
  test.each(["https://api.example.com:8443", "https://api.example.com:8443/other", "https://api.example.com:8443?q=1"])(
    "%s is",
    (address) => expect(isTarget(address)).toBe(true),
  );

  test.each([
    "http://api.example.com:8443/",
    "https://api.example.com/",
    "https://api.example.com:84430/",
    "https://api.example.com:8443.evil.example/",
    "https://api-example.com:8443/",
    "https://evil.example/?next=https://api.example.com:8443/",
  ])("%s is not", (address) => expect(isTarget(address)).toBe(false));
});
