import type { ReactNode } from "react";
import { requireConsole } from "../../../console/guard";

/** No static shell: Next renders these pages per request, so their scripts can have a nonce. */
export const instant = false;

export default async function TestEventsLayout({ children }: { children: ReactNode }) {
  await requireConsole();
  return children;
}
