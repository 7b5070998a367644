import type { ReactNode } from "react";
import { requireConsole } from "../../console/guard";

/** The console's pages; none of them exists where CONSOLE=off. */
export default function ConsoleLayout({ children }: { children: ReactNode }) {
  requireConsole();
  return children;
}
