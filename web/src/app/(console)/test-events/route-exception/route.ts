import { requireConsole } from "../../../../console/guard";

export async function POST(): Promise<never> {
  await requireConsole();
  throw new Error("Thrown on purpose in a route handler");
}
