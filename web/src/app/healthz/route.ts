export const dynamic = "force-dynamic";

/** Responds with 200 as long as this process serves requests. */
export function GET() {
  return new Response("ok\n", { headers: { "Cache-Control": "no-store", "Content-Type": "text/plain" } });
}
