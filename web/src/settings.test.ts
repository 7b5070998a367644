import { SettingError } from "@culvert/nextjs/settings";
import { expect, test } from "vitest";
import { parseSettings } from "./settings";

const notUrl =
  "is not an http(s) address without credentials: use an address such as https://api.example.com/v1/status";
const notCache = "is not the address of a cache: use an address such as redis://cache:6379, or rediss:// for TLS";

test.each([
  ["UPSTREAM_URL", "api/v1", notUrl],
  ["UPSTREAM_URL", "ftp://api/", notUrl],
  ["UPSTREAM_URL", "https://me:pw@api/", notUrl],
  ["UPSTREAM_URL", "off\n\x1b[2J", notUrl],
  ["CACHE_URL", "cache:6379", notCache],
  ["CACHE_URL", "http://:secret@cache", notCache],
  ["BASE_PATH", "shop\n", "'shop ' is not a path: use next.config's basePath, such as /shop"],
  ["CONSOLE", "yes", "'yes' is neither: use on or off"],
  ["CONSOLE", "off\n\x1b[2J", "'off ?[2J' is neither: use on or off"],
])("%s=%j is rejected in one line that says what to do", (name, value, line) => {
  const error = expect.objectContaining({ message: `${name} ${line}` });
  expect(() => parseSettings({ [name]: value })).toThrow(error);
  expect(() => parseSettings({ [name]: value })).toThrow(SettingError);
});

test("the console is on, and UPSTREAM_URL follows the port that this process listens on", () => {
  const upstreamUrl = new URL("http://127.0.0.1:3100/api/echo");
  expect(parseSettings({ PORT: "3100", CACHE_URL: "" })).toMatchObject({
    upstreamUrl,
    console: true,
    cacheUrl: undefined,
  });
});

test("the package's settings are checked too", () => {
  expect(() => parseSettings({ TUNNEL_PATH: "/" })).toThrow(/^TUNNEL_PATH/);
});
