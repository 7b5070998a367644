import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { failIfBroken } from "../console/broken-layout";
import { requestMetadata } from "../telemetry/errors/request-id";
import { publicMetadata } from "../telemetry/settings/public-settings";
import { settings } from "../telemetry/settings/settings";
import { Shell } from "../ui/shell";
import "../ui/base.css";

// Renders every page per request: a prerendered one would contain the build's settings, and one trace for all users.
export const dynamic = "force-dynamic";

export const viewport: Viewport = { colorScheme: "light dark" };

export async function generateMetadata(): Promise<Metadata> {
  return {
    title: { default: "Culvert", template: "%s · Culvert" },
    description: "A Next.js app behind Nginx whose errors and traces arrive through its own origin.",
    other: { ...publicMetadata(settings()), ...requestMetadata(await headers()) },
  };
}

export default async function RootLayout({ children }: { children: ReactNode }) {
  await failIfBroken();
  return (
    <html lang="en">
      <body>
        <Shell>{children}</Shell>
      </body>
    </html>
  );
}
