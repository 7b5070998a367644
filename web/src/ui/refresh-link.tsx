"use client";

import { useRouter } from "next/navigation";
import { useTransition } from "react";

/** Renders a link that refreshes this page from the server; without JavaScript it reloads the page. */
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
