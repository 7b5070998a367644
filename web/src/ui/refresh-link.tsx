"use client";

import { useRouter } from "next/navigation";
import { useTransition } from "react";

/** Renders a link that asks the server for this page anew; without JavaScript it loads it. */
export function RefreshLink({ href, children }: { href: string; children: string }) {
  const router = useRouter();
  const [pending, start] = useTransition();
  return (
    <a
      className="button"
      href={href}
      aria-busy={pending}
      onClick={(event) => {
        event.preventDefault();
        start(() => router.refresh());
      }}
    >
      {children}
    </a>
  );
}
