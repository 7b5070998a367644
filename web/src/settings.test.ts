import { SettingError } from "@culvert/nextjs/settings";
import { expect, test } from "vitest";
import { parseSettings } from "./settings";

const cacheFix = "use an address such as redis://cache:6379, or rediss:// for TLS";
const urlFix = "use an address such as https://api.example.com/v1/status";

test.each([
  ["UPSTREAM_URL", "api/v1", `UPSTREAM_URL is not an http(s) address without credentials: ${urlFix}`],
  ["UPSTREAM_URL", "ftp://api/", `UPSTREAM_URL is not an http(s) address without credentials: ${urlFix}`],
  ["CACHE_URL", "cache:6379", `CACHE_URL is not the address of a cache: ${cacheFix}`],
  ["CACHE_URL", "http://:secret@cache", `CACHE_URL is not the address of a cache: ${cacheFix}`],
  ["CONSOLE", "yes", "CONSOLE 'yes' is neither: use on or off"],
  ["UPSTREAM_URL", "https://me:pw@api/", `UPSTREAM_URL is not an http(s) address without credentials: ${urlFix}`],
])("%s=%j is rejected in one line that says what to do", (name, value, line) => {
  expect(() => parseSettings({ [name]: value })).toThrow(expect.objectContaining({ message: line }));
  expect(() => parseSettings({ [name]: value })).toThrow(SettingError);
});

test.each(["UPSTREAM_URL", "CACHE_URL", "CONSOLE"])("%s: a message has no line break", (name) => {
  expect(() => parseSettings({ [name]: "off\n\x1b[2J" })).toThrow(/^[ -~]+$/);
});

test("defaults, which follow the port that this process listens on; the package's settings are checked too", () => {
  expect(parseSettings({ PORT: "3100", CACHE_URL: "" })).toMatchObject({
    upstreamUrl: new URL("http://127.0.0.1:3100/api/echo"),
    cacheUrl: undefined,
    console: true,
    environment: "production",
  });
  expect(() => parseSettings({ TUNNEL_PATH: "/" })).toThrow(/^TUNNEL_PATH/);
});

test("the defaults are those of deploy/settings/settings.json", async () => {
  const { default: groups } = await import("../../deploy/settings/settings.json");
  const all: { name: string; services: string[]; default: string }[] = Object.values(groups).flat();
  const documented = all.filter(({ services, default: value }) => services.includes("web") && value);
  const {
    environment,
    tracesSampleRate,
    tunnelPath,
    console: onOff,
  } = parseSettings({ SERVER_TUNNEL: "http://proxy:8083" });
  expect(Object.fromEntries(documented.map((one) => [one.name, one.default]))).toEqual({
    SENTRY_ENVIRONMENT: environment,
    SENTRY_TRACES_SAMPLE_RATE: `${tracesSampleRate}`,
    TUNNEL_PATH: tunnelPath,
    CONSOLE: onOff ? "on" : "off",
    // The proxy's alone.
    HEALTH_PATH: "/healthz",
  });
});
