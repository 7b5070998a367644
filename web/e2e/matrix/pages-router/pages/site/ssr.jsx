import { useState } from "react";

export function getServerSideProps({ req, locale }) {
  return { props: { host: req.headers["x-forwarded-host"] ?? req.headers.host, locale } };
}

export default function Rendered({ host, locale }) {
  const [clicks, setClicks] = useState(0);
  return (
    <main>
      <h1>
        Rendered for {host} in {locale}
      </h1>
      <button type="button" onClick={() => setClicks(clicks + 1)}>
        Clicked {clicks} times
      </button>
    </main>
  );
}
