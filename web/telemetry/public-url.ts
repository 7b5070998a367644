type Values = Headers | Record<string, string | string[] | undefined>;

/** A request in middleware, a route handler or the Pages Router. Only in middleware, `url` has the base path; `nextUrl` says so. */
interface AnyRequest {
  headers: Values;
  url?: string;
  nextUrl?: { basePath: string };
}

/**
 * Returns the address for which the browser has asked: `request.url` names the one where Next listens. Takes a request, or `await headers()` in a
 * server component, which knows no path: then it is the app's first page. Scheme, host and port are from headers that only the proxy sets.
 */
export function publicUrl(request: AnyRequest | Headers): URL {
  const { headers, url = "/", nextUrl } = request instanceof Headers ? { headers: request } : request;
  const value = (name: string) => (headers instanceof Headers ? headers.get(name) : headers[name]);
  const origin = `${value("x-forwarded-proto") ?? "http"}://${value("x-forwarded-host") ?? value("host")}`;
  // Joined: `new URL("//a/b", origin)` is of the host a.
  const { pathname, search } = new URL(url.startsWith("/") ? origin + url : url, origin);
  const address = new URL(origin);
  address.pathname = `${nextUrl?.basePath ? "" : (process.env.CULVERT_BASE_PATH ?? "")}${pathname}`;
  address.search = search;
  return address;
}
