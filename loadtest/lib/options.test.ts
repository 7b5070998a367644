import { describe, expect, it } from "vitest";
import { OptionError, readOptions } from "./options.ts";

describe("options", () => {
  it("have defaults for a stack on this machine; an empty value counts as not set", () => {
    expect(readOptions({ RATE: "", DURATION: " ", BASE_URL: "" })).toMatchObject({
      baseUrl: "https://localhost:8443",
      pages: ["/"],
      tunnelPath: "/monitoring",
    });
    expect(readOptions({}).rate).toBeUndefined();
  });

  it("are read", () => {
    expect(
      readOptions({
        BASE_URL: "https://[::1]:8443/",
        RATE: "0.5",
        DURATION: "10m",
        PAGES: "/a, /b",
        ACTION_PAGE: "off",
      }),
    ).toMatchObject({ baseUrl: "https://[::1]:8443", rate: 0.5, duration: 600, pages: ["/a", "/b"], actionPage: "" });
  });

  it.each([
    ["BASE_URL", "localhost:8443"],
    ["BASE_URL", "https://localhost/path"],
    ["RATE", "0"],
    ["RATE", "fast"],
    ["RATE", "-1"],
    ["DURATION", "10"],
    ["DURATION", "0s"],
    ["MAX_VUS", "0"],
    ["MAX_VUS", "1"],
    ["MAX_VUS", "10.5"],
    ["TUNNEL_PATH", "/"],
    ["TUNNEL_PATH", "/r?x=1"],
    ["PAGES", "/a,b"],
    ["PAGES", "https://elsewhere/"],
    ["TRACE_PAGE", "trace"],
    ["SENTRY_DSN", "https://host/1"],
    ["FOREIGN_PROJECT", "1"],
    ["FOREIGN_PROJECT", "x"],
    ["PAGE_P95_MS", "NaN"],
    ["OUTAGE", "yes"],
    // The names of earlier versions.
    ["OUTAGE", "by-hand"],
    ["OUTAGE", "switched"],
  ])("%s=%s is rejected in one line that names it and says how to fix it", (name, value) => {
    const message = () => readOptions({ [name]: value });
    expect(message).toThrow(OptionError);
    expect(message).toThrow(new RegExp(`^${name} .*: .+$`));
  });

  it("never repeats a DSN, which holds a key", () => {
    expect(() => readOptions({ SENTRY_DSN: "https://secretkey@" })).toThrow(/^(?!.*secretkey)/);
  });
});
