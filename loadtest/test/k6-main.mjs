import * as script from "#script";
import { runScript } from "./k6-shim.ts";

const [scenario] = Object.values(script.options.scenarios ?? {});

/** Runs the script, which k6.mjs names. */
export const run = (limit = "60") =>
  runScript({ ...script, iteration: script.default }, () => scenario?.iterations ?? Number(limit));
