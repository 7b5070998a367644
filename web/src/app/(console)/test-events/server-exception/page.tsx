import { requireConsole } from "../../../../console/guard";

export default function ServerExceptionPage(): never {
  requireConsole();
  throw new Error("Thrown on purpose while rendering on the server");
}
