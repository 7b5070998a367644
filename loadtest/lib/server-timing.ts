import type { Response } from "./request.ts";

/** The descriptions of a metric in a response's Server-Timing: https://www.w3.org/TR/server-timing/ */
export const serverTimings = ({ headers }: Pick<Response, "headers">, metric: string): string[] =>
  Array.from(
    (headers["server-timing"] ?? "").matchAll(new RegExp(`(?:^|,)\\s*${metric};desc="([^"]*)"`, "g")),
    ([, description = ""]) => description,
  );
