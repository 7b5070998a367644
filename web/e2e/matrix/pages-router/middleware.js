import { NextResponse } from "next/server";

/** Rewrites every path, including the health route, as multi-tenant apps do. */
export function middleware(request) {
  const url = request.nextUrl.clone();
  if (url.pathname.startsWith("/_next/")) return NextResponse.next();
  url.pathname = `/site${url.pathname}`;
  return NextResponse.rewrite(url);
}
