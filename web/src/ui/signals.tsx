import Link from "next/link";
import type { ReactNode } from "react";
import { BreakButton } from "./break-button";
import { SayForm } from "./say-form";
import styles from "./signals.module.css";
import { ThrowButton } from "./throw-button";

/** Takes the tunnel path and lists one control per kind of signal, each with what should happen. */
export function Signals({ tunnelPath }: { tunnelPath: string }) {
  return (
    <section aria-labelledby="signals">
      <h2 id="signals">Signals</h2>
      <ul className={styles.signals}>
        <Signal
          title="Exception in the browser"
          expect={`One report, posted to ${tunnelPath}. The page stays as it is.`}
        >
          <ThrowButton tunnelPath={tunnelPath} />
        </Signal>
        <Signal title="Exception while rendering in the browser" expect="One report. The error page offers a retry.">
          <BreakButton />
        </Signal>
        <Signal
          title="Exception on the server"
          expect="One report, sent by the server. The error page shows its digest."
        >
          {/* Not prefetched: the exception would be reported before anyone asks for it. */}
          <Link className="button" href="/signals/server-exception" prefetch={false}>
            Throw on the server
          </Link>
        </Signal>
        <Signal title="Server action" expect="A POST to this page's own address, with or without JavaScript.">
          <SayForm />
        </Signal>
        <Signal title="Redirect" expect="Ends on the trace page. Nothing is reported.">
          <Link className="button" href="/signals/redirect" prefetch={false}>
            Follow a redirect
          </Link>
        </Signal>
        <Signal title="Not found" expect="Status 404. Nothing is reported.">
          <Link className="button" href="/no-such-page" prefetch={false}>
            Open a missing page
          </Link>
        </Signal>
      </ul>
    </section>
  );
}

function Signal({ title, expect, children }: { title: string; expect: string; children: ReactNode }) {
  return (
    <li className={styles.signal}>
      <div>
        <h3>{title}</h3>
        <p>{expect}</p>
      </div>
      <div className={styles.control}>{children}</div>
    </li>
  );
}
