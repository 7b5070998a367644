import { Suspense } from "react";
import { requireConsole } from "../../../../console/guard";
import { ThrowsOnBothSides } from "../../../../ui/throws-on-both-sides";

/** The page has started with status 200 when a part of it throws: React then leaves that part to the browser. */
export default async function InSuspensePage() {
  await requireConsole();
  return (
    <>
      <h1>A part of this page fails</h1>
      <Suspense fallback={<p className="lead">Loading…</p>}>
        <ThrowsOnBothSides />
      </Suspense>
    </>
  );
}
