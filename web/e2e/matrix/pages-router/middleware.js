import { NextResponse } from "next/server";

/** Redirects one path, and rewrites all others, the health route too, as multi-tenant apps do. */
export function middleware(request) {
  const url = request.nextUrl.clone();
  if (/^\/(_next|api|sentry-example-page)\//.test(url.pathname)) return NextResponse.next();
  if (url.pathname === "/old/") return NextResponse.redirect(new URL("/ssr/", request.url));
  url.pathname = `/site${url.pathname}`;
  return NextResponse.rewrite(url);
}
