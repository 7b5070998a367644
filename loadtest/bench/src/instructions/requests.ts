import { tunnelTarget } from "../workload.ts";

/** A part of the proxy: the count falls by its cost if it is removed. Shell commands, run in /etc/nginx before the proxy starts. */
export interface Part {
  name: string;
  remove: string;
  /** What is removed in both counts, because the part cannot work without it. */
  alsoWithout?: string;
}

/** What is counted: a request, curl's arguments for it, the parts of the proxy that it passes, and whether the bare Nginx can answer it. */
export interface Counted {
  name: string;
  path: string;
  curl: string[];
  parts: Part[];
  bare: boolean;
  /** The status of the answer, if it is not 200, and the proxy's settings that it takes. */
  status?: string;
  settings?: Record<string, string>;
  /** What the proxy is asked before, and does not answer as long as it counts. */
  unanswered?: string;
  /** Sizes of the two loads whose costs are subtracted, so that handshakes and the start do not count. */
  loads: [few: number, many: number];
}

const counter = "sed -i 's/[$]counted_request/$status/' snippets/access-log.conf";
const headers = "sed -i '/^add_header /d' snippets/security/*.conf templates/security/*.conf snippets/noindex.conf";

const navigation = ["-H", "accept: text/html", "-H", "accept-encoding: gzip, br"];

/** In the order in which the parts cost. */
export const requests: Counted[] = [
  {
    name: "Envelope",
    path: tunnelTarget,
    curl: ["-H", "content-type: text/plain;charset=UTF-8", "--data-binary", "@/run-data/envelope"],
    bare: true,
    loads: [100, 500],
    parts: [
      { name: "njs", remove: "sed -i /js_header_filter/d templates/forward-to-ingest.conf" },
      {
        name: "rate and connection limits",
        remove: "sed -i '/^limit_req zone/d; /^limit_conn tunnel/d' templates/forward-to-ingest.conf",
      },
      {
        name: "allow-list of request headers",
        remove: "sed -i '/pass_request_headers/d; /^proxy_set_header [COUSX].*[$]/d' snippets/envelope-headers.conf",
      },
      { name: "access log", remove: "sed -i 's/^access_log .*/access_log off;/' snippets/tunnel-response.conf" },
      { name: "response headers of its own", remove: "sed -i '/^add_header /d' snippets/tunnel-response.conf" },
    ],
  },
  {
    name: "Page",
    path: "/",
    curl: navigation,
    bare: false,
    // Each takes as long as ten of the others.
    loads: [20, 100],
    parts: [
      { name: "compression", remove: "sed -i 's/^gzip on/gzip off/' snippets/compression.conf" },
      { name: "njs, which counts", remove: counter },
      { name: "headers of the response", remove: headers },
      { name: "access log, without its counter", ...accessLog() },
    ],
  },
  {
    name: "Hashed file",
    path: "/_next/static/chunks/0123456789abcdef.js",
    curl: ["-H", "accept-encoding: gzip, br"],
    bare: true,
    loads: [100, 500],
    parts: [
      { name: "njs", remove: counter },
      {
        name: "headers of the response",
        remove: `${headers} && sed -i '/^ *add_header Cache-Control/d' templates/routes/hashed-files.conf`,
      },
      { name: "access log, without its counter", ...accessLog() },
    ],
  },
  {
    name: "Page, shed",
    path: "/",
    curl: navigation,
    bare: false,
    status: "503",
    settings: { MAX_CONCURRENT_PAGES_PER_REPLICA: "1" },
    unanswered: "/unanswered",
    loads: [100, 500],
    parts: [{ name: "headers of the response", remove: headers }],
  },
];

function accessLog(): Omit<Part, "name"> {
  return {
    remove: "sed -i 's/^access_log .*/access_log off;/' snippets/access-log.conf",
    alsoWithout: counter,
  };
}
