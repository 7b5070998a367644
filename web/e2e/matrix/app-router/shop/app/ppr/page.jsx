import Counter from "counter";
import { cookies, headers } from "next/headers";
import { Suspense } from "react";

/** The part that is rendered for each request. */
async function Hole() {
  const [jar, sent] = [await cookies(), await headers()];
  return (
    <ul>
      <li id="cookies">{jar.getAll().reduce((bytes, { value }) => bytes + value.length, 0)}</li>
      <li id="policy">{sent.get("content-security-policy") ?? "none"}</li>
    </ul>
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
