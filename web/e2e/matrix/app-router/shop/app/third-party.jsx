"use client";

import Script from "next/script";
import { useEffect, useState } from "react";

/** A script of another origin, which the test chooses: `?third-party=http://127.0.0.1:1234/script.js`. */
export default function ThirdParty() {
  const [source, setSource] = useState("");
  useEffect(() => setSource(new URLSearchParams(window.location.search).get("third-party") ?? ""), []);
  return source && <Script src={source} />;
}
