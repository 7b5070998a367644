import { connection } from "next/server";

class SentryExampleAPIError extends Error {
  constructor(message) {
    super(message);
    this.name = "SentryExampleAPIError";
  }
}

export async function GET() {
  await connection();
  throw new SentryExampleAPIError("This error is raised on the backend called by the example page.");
}
