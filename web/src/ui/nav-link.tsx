"use client";

import Link, { useLinkStatus } from "next/link";
import { usePathname } from "next/navigation";
import styles from "./nav-link.module.css";

/** Takes an address and its name and renders a link that knows when it leads to the page one is on. */
export function NavLink({ href, children }: { href: string; children: string }) {
  const current = usePathname() === href ? "page" : undefined;
  // Not prefetched: a page made per request would be made twice.
  return (
    <Link className={styles.link} href={href} prefetch={false} aria-current={current}>
      {children}
      <Loading />
    </Link>
  );
}

/** Shows that the page behind its link is on the way. */
function Loading() {
  const { pending } = useLinkStatus();
  return <span className={styles.loading} data-pending={pending} aria-hidden="true" />;
}
