import { requireConsole } from "../../../../console/guard";

export default async function ServerExceptionPage(): Promise<never> {
  await requireConsole();
  throw new Error("Thrown on purpose while rendering on the server");
}
