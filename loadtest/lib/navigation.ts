/** The headers of a client navigation in Next's App Router. Next redirects to the address with their hash as `_rsc`. */
export const navigationHeaders = (from: string): Record<string, string> => ({
  rsc: "1",
  "next-router-state-tree": encodeURIComponent(JSON.stringify(routerState(from))),
  "next-url": from,
});

export const navigationPath = (to: string, hash: string) => `${to}${to.includes("?") ? "&" : "?"}_rsc=${hash}`;

type RouterState = [segment: string, children: { children?: RouterState }];

function routerState(path: string): RouterState {
  const segments = path
    .replace(/[?#].*$/, "")
    .split("/")
    .filter(Boolean);
  const page: RouterState = ["__PAGE__", {}];
  return ["", { children: segments.reduceRight<RouterState>((children, segment) => [segment, { children }], page) }];
}
