"use client";

import { useServerInsertedHTML } from "next/navigation";
import { useState } from "react";
import { createStyleRegistry, StyleRegistry } from "styled-jsx";

// As Next documents it: https://nextjs.org/docs/app/guides/css-in-js#styled-jsx
export default function StyledJsx({ children }) {
  const [registry] = useState(() => createStyleRegistry());
  useServerInsertedHTML(() => {
    const styles = registry.styles();
    registry.flush();
    return styles;
  });
  return <StyleRegistry registry={registry}>{children}</StyleRegistry>;
}
