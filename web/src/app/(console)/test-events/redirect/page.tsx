import { redirect } from "next/navigation";
import { requireConsole } from "../../../../console/guard";

export default function RedirectPage() {
  requireConsole();
  redirect("/trace");
}
