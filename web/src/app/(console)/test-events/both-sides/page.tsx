import { requireConsole } from "../../../../console/guard";
import { ThrowsOnBothSides } from "../../../../ui/throws-on-both-sides";

export default async function BothSidesPage() {
  await requireConsole();
  return <ThrowsOnBothSides />;
}
