import type { Metadata, Viewport } from "next";
import type { ReactNode } from "react";
import { Shell } from "../ui/shell";
import "../ui/base.css";

export const viewport: Viewport = { colorScheme: "light dark" };

export const metadata: Metadata = {
  title: { default: "Culvert", template: "%s · Culvert" },
  description: "A Next.js app behind Nginx whose errors and traces arrive through its own origin.",
};

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <Shell>{children}</Shell>
      </body>
    </html>
  );
}
