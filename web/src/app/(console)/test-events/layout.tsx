import type { ReactNode } from "react";
import { requireConsole } from "../../../console/guard";

/** These pages have no static shell: Next renders all of them per request, so their scripts can have the nonce of a strict policy. */
export const instant = false;

export default async function TestEventsLayout({ children }: { children: ReactNode }) {
  await requireConsole();
  return children;
}
