import Link from "next/link";
import { connection } from "next/server";
import { type ReactNode, Suspense } from "react";
import { failIfBroken } from "../console/broken-layout";
import { settings } from "../settings";
import { NavLink } from "./nav-link";
import styles from "./shell.module.css";

/** Takes a page and renders it between the header and the footer. */
export function Shell({ children }: { children: ReactNode }) {
  return (
    <>
      <header className={styles.header}>
        <Link className={styles.brand} href="/">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <circle cx="16" cy="16" r="13" />
            <path d="M3.5 19.5c4-3 8.5 3 12.5 0s8.5-3 12.5 0" />
          </svg>
          Culvert
        </Link>
        <Suspense>
          <Navigation />
        </Suspense>
      </header>
      <main>{children}</main>
      <footer className={styles.footer}>
        This app is an example. To replace it with your own, see <code>web/README.md</code>.
      </footer>
    </>
  );
}

/** Per request: the build does not know CONSOLE. */
async function Navigation() {
  await connection();
  await failIfBroken();
  if (!settings().console) return null;
  return (
    <nav aria-label="Main">
      <NavLink href="/">Overview</NavLink>
      <NavLink href="/test-events">Test events</NavLink>
      <NavLink href="/trace">Trace</NavLink>
    </nav>
  );
}
