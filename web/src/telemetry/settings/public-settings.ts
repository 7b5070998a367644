import type { Settings } from "./settings";

/** The settings that a browser may know. Every field is listed, so that a new setting is private by default. */
export type PublicSettings = {
  dsn: string;
  environment: string;
  release: string | undefined;
  region: string | undefined;
  tracesSampleRate: number;
  tunnelPath: string;
};

/**
 * Name of the `<meta>` that carries the public settings. `generateMetadata` writes it, because metadata is the only part of the
 * layout in the bare document that Next sends when a server component throws.
 */
export const META_NAME = "culvert-telemetry";

/** Takes the settings and returns the browser's subset as `other` metadata; empty when telemetry is off. */
export function publicMetadata(settings: Settings): Record<string, string> {
  if (!settings.dsn) return {};
  const subset: PublicSettings = {
    dsn: settings.dsn.public,
    environment: settings.environment,
    release: settings.release,
    region: settings.region,
    tracesSampleRate: settings.tracesSampleRate,
    tunnelPath: settings.tunnelPath,
  };
  return { [META_NAME]: JSON.stringify(subset) };
}

/** Takes the document and returns the public settings it carries, or undefined when telemetry is off. */
export function readPublicSettings(page: Pick<Document, "querySelector">): PublicSettings | undefined {
  const content = page.querySelector(`meta[name="${META_NAME}"]`)?.getAttribute("content");
  return content ? JSON.parse(content) : undefined;
}
