import * as main from "../main.ts";
import * as preflight from "../preflight.ts";
import { runScript } from "./k6-shim.ts";

/** Runs main.ts or preflight.ts. */
export function run(file: string, limit = "60") {
  if (file === "preflight.ts") return runScript({ ...preflight, iteration: preflight.default }, () => 1);
  const [scenario] = Object.values(main.options.scenarios ?? {}) as { iterations?: number }[];
  return runScript({ ...main, iteration: main.default }, () => scenario?.iterations ?? Number(limit));
}
