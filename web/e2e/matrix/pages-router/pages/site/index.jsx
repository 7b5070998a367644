import Link from "next/link";
import { useRouter } from "next/router";
import { useState } from "react";

const WORDS = { en: "Hello", de: "Hallo" };

/** Prerendered for each language, and revalidated every second at most. */
export function getStaticProps({ locale }) {
  return { props: { words: WORDS[locale], made: Date.now() }, revalidate: 1 };
}

export default function Home({ words, made }) {
  const { locale } = useRouter();
  const [clicks, setClicks] = useState(0);
  return (
    <main lang={locale}>
      <h1 style={{ color: "rgb(1, 2, 3)" }}>{words}</h1>
      <p id="made">{made}</p>
      <button type="button" onClick={() => setClicks(clicks + 1)}>
        Clicked {clicks} times
      </button>
      <Link href="/ssr">To the other page</Link>
      <style jsx>{`
        p {
          color: rgb(4, 5, 6);
        }
      `}</style>
    </main>
  );
}
