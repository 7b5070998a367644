"use server";

import { refresh } from "next/cache";
import { requireConsole } from "../../console/guard";

/** Makes the overview anew, with what its hops answer now. */
export async function checkAgain(): Promise<void> {
  requireConsole();
  refresh();
}
