import { requireConsole } from "../../../../console/guard";

export function POST(): never {
  requireConsole();
  throw new Error("Thrown on purpose in a route handler");
}
