import { requireConsole } from "../../../../console/guard";
import { ThrowsAnywhere } from "../../../../ui/throws-anywhere";

export default function BothSidesPage() {
  requireConsole();
  return <ThrowsAnywhere />;
}
