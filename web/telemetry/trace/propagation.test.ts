import { expect, test } from "vitest";
import { propagationTargets } from "./propagation.js";

const [target] = propagationTargets(["https://api.example.com:8443"]);

test.each(["", "/other", "?q=1"])("the named origin is sent trace headers, with %j too", (path) =>
  expect(`https://api.example.com:8443${path}`).toMatch(target as RegExp),
);

test.each([
  ...["http://api.example.com:8443/", "https://api.example.com/", "https://api.example.com:84430/"],
  ...["https://api.example.com:8443.evil.example/", "https://api-example.com:8443/"],
  "https://evil.example/?next=https://api.example.com:8443/",
])("%s is not", (address) => expect(address).not.toMatch(target as RegExp));
