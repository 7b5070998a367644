import { requireConsole } from "../../../../console/guard";
import { ThrowsOnBothSides } from "../../../../ui/throws-on-both-sides";

export default function BothSidesPage() {
  requireConsole();
  return <ThrowsOnBothSides />;
}
