import { expect, test } from "vitest";
import { META_NAME, publicMetadata, readPublicSettings } from "./public-settings";
import { parseSettings } from "./settings";

const settings = parseSettings({
  SENTRY_DSN: "https://public:topsecret@sentry.example.com/1",
  SENTRY_RELEASE: "v1",
  REGION: "eu",
  UPSTREAM_URL: "https://internal.example.com/",
});

function page(content: string | undefined) {
  const meta = { getAttribute: () => content } as unknown as Element;
  const found = (selector: string) => content !== undefined && selector === `meta[name="${META_NAME}"]`;
  return { querySelector: (selector: string) => (found(selector) ? meta : null) } as Pick<Document, "querySelector">;
}

test("the browser reads back what the server wrote", () => {
  expect(readPublicSettings(page(publicMetadata(settings)[META_NAME]))).toEqual({
    dsn: "https://public@sentry.example.com/1",
    environment: "production",
    release: "v1",
    region: "eu",
    tracesSampleRate: 1,
    tunnelPath: "/monitoring",
  });
});

test("neither the DSN's secret nor the upstream reaches the page", () => {
  expect(JSON.stringify(publicMetadata(settings))).not.toMatch(/topsecret|internal/);
});

test("without a DSN the page carries no settings, and the browser starts nothing", () => {
  expect(publicMetadata(parseSettings({}))).toEqual({});
  expect(readPublicSettings(page(undefined))).toBeUndefined();
});
