"use server";

import { refresh } from "next/cache";
import { requireConsole } from "../../console/guard";

/** Renders the overview again, with new checks of its hops. */
export async function checkAgain(): Promise<void> {
  requireConsole();
  refresh();
}
