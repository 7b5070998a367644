import { NotFoundTrace } from "@culvert/nextjs/errors";
import type { Metadata } from "next";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <div className="notice">
      <NotFoundTrace />
      <h1>Page not found</h1>
      <p>There is no page at this address.</p>
    </div>
  );
}
