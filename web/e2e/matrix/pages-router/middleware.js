import { NextResponse } from "next/server";

/** Every path is another one inside, as apps for several sites or tenants do it; a health route as well. */
export function middleware(request) {
  const url = request.nextUrl.clone();
  if (url.pathname.startsWith("/_next/")) return NextResponse.next();
  url.pathname = `/site${url.pathname}`;
  return NextResponse.rewrite(url);
}
