import Counter from "counter";
import { cookies, headers } from "next/headers";
import { Suspense } from "react";

/** The part that is rendered for each request. */
async function Hole() {
  const [jar, sent] = [await cookies(), await headers()];
  return (
    <p id="hole">
      {jar.size} cookies, policy {sent.get("content-security-policy") ?? "none"}
    </p>
  );
}

export default function PartiallyPrerendered() {
  return (
    <main>
      <h1>In parts</h1>
      <Counter />
      <Suspense fallback={<p>Soon</p>}>
        <Hole />
      </Suspense>
    </main>
  );
}
