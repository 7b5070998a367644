import { ThrowsAnywhere } from "../../../../ui/throws-anywhere";

export default function BothSidesPage() {
  return <ThrowsAnywhere />;
}
