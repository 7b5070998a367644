import Counter from "counter";
import Link from "next/link";
import Script from "next/script";

export default function Static() {
  return (
    <main style={{ color: "rgb(1, 2, 3)" }}>
      <h1>Static</h1>
      <Counter />
      <Link href="/ppr">To the page in parts</Link>
      <Script id="inline">{"document.documentElement.dataset.inline = 'ran'"}</Script>
    </main>
  );
}
