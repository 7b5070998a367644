import Counter from "counter";
import Link from "next/link";
import Script from "next/script";
import Styled from "./styled";
import ThirdParty from "./third-party";

export default function Static() {
  return (
    <main style={{ color: "rgb(1, 2, 3)" }}>
      <h1>Static</h1>
      <Counter />
      <Styled />
      <Link href="/ppr">To the page in parts</Link>
      <Script id="inline">{"document.documentElement.dataset.inline = 'ran'"}</Script>
      <ThirdParty />
    </main>
  );
}
