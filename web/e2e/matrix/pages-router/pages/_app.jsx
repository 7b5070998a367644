import Head from "next/head";

export default function App({ Component, pageProps }) {
  return (
    <>
      <Head>
        {/* No icon; otherwise the browser requests /favicon.ico. */}
        <link rel="icon" href="data:," />
      </Head>
      <Component {...pageProps} />
    </>
  );
}
