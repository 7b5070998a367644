import { connection } from "next/server";

export async function GET() {
  await connection();
  throw new Error("This error is raised on the backend called by the example page.");
}
