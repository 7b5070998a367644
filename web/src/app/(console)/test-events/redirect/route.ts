import { redirect } from "next/navigation";
import { requireConsole } from "../../../../console/guard";

export async function GET(): Promise<never> {
  await requireConsole();
  redirect("/trace");
}
