import { Suspense } from "react";
import { requireConsole } from "../../../../console/guard";
import { ThrowsOnBothSides } from "../../../../ui/throws-on-both-sides";

/** The page is under way, status 200, when the exception is met: React then leaves that part to the browser. */
export default function InSuspensePage() {
  requireConsole();
  return (
    <>
      <h1>A part of this page fails</h1>
      <Suspense fallback={<p className="lead">Loading…</p>}>
        <ThrowsOnBothSides />
      </Suspense>
    </>
  );
}
