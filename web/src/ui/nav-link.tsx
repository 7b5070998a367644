"use client";

import Link, { useLinkStatus } from "next/link";
import { usePathname } from "next/navigation";
import styles from "./nav-link.module.css";

/** Takes an address and its name and renders a link that marks the current page. */
export function NavLink({ href, children }: { href: string; children: string }) {
  const current = usePathname() === href ? "page" : undefined;
  return (
    <Link className={styles.link} href={href} aria-current={current}>
      {children}
      <Loading />
    </Link>
  );
}

/** Shows that the linked page is loading. */
function Loading() {
  const { pending } = useLinkStatus();
  return <span className={styles.loading} data-pending={pending} aria-hidden="true" />;
}
