import { utf8 } from "./random.ts";

/**
 * The headers and address of a client navigation in Next's App Router.
 *
 * Next checks that `_rsc` is the hash of the headers that vary the response, and redirects if it is not. This is the hash of
 * Next 16.4; an older version redirects once, and a browser follows that too.
 */
export async function navigation(from: string, to: string): Promise<{ path: string; headers: Record<string, string> }> {
  const tree = encodeURIComponent(JSON.stringify(routerState(from)));
  const digest = await crypto.subtle.digest("SHA-256", utf8(`0,0,${tree},${from}`));
  const hash = base64Url(new Uint8Array(digest).subarray(0, 12));
  return {
    path: `${to}${to.includes("?") ? "&" : "?"}_rsc=${hash}`,
    headers: { rsc: "1", "next-router-state-tree": tree, "next-url": from },
  };
}

type RouterState = [segment: string, children: { children?: RouterState }];

/** The page that the browser shows, as nested segments. */
function routerState(path: string): RouterState {
  const segments = path
    .replace(/[?#].*$/, "")
    .split("/")
    .filter(Boolean);
  const page: RouterState = ["__PAGE__", {}];
  return ["", { children: segments.reduceRight<RouterState>((children, segment) => [segment, { children }], page) }];
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** k6 has no `btoa`. Takes a multiple of three bytes, so no padding is needed. */
function base64Url(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    for (const shift of [18, 12, 6, 0]) text += ALPHABET[(word >> shift) & 63];
  }
  return text;
}
