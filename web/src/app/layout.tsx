import type { Metadata, Viewport } from "next";
import type { ReactNode } from "react";
import { failIfBroken } from "../console/broken-layout";
import { Shell } from "../ui/shell";
import "../ui/base.css";

// Renders every page per request: a prerendered one would have no nonce, and one trace for all users.
export const dynamic = "force-dynamic";

export const viewport: Viewport = { colorScheme: "light dark" };

export const metadata: Metadata = {
  title: { default: "Culvert", template: "%s · Culvert" },
  description: "A Next.js app behind Nginx whose errors and traces arrive through its own origin.",
};

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
