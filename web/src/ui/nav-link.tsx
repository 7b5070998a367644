"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";

/** Takes an address and its name and renders a link that knows when it leads to the page one is on. */
export function NavLink({ href, children }: { href: string; children: string }) {
  const current = usePathname() === href ? "page" : undefined;
  // Not prefetched: a page made per request would be made twice.
  return (
    <Link href={href} prefetch={false} aria-current={current}>
      {children}
    </Link>
  );
}
