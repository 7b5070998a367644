import { requireConsole } from "../../../console/guard";
import { serverChecks } from "../../../console/server-checks";

/** Responds with the server's checks of its hops, for an overview that is open. */
export async function GET() {
  await requireConsole();
  return Response.json(await serverChecks(), { headers: { "Cache-Control": "no-store" } });
}
