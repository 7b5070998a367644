import { connection } from "next/server.js";

export { isStopping } from "./send/stopping.js";

/** A route handler for health checks: `export { GET } from "@culvert/nextjs/health"` in app/healthz/route. */
export async function GET(): Promise<Response> {
  // With Cache Components, Next would otherwise run it when it builds, and serve a file.
  await connection();
  return new Response("ok\n", { headers: { "Cache-Control": "no-store", "Content-Type": "text/plain" } });
}

/** The same as an API route: `export { default } from "@culvert/nextjs/health"` in pages/api/healthz. */
export default function handler(_: unknown, response: { status(code: number): { send(text: string): void } }): void {
  response.status(200).send("ok\n");
}
