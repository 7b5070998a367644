import createMiddleware from "next-intl/middleware";
import { routing } from "./i18n/routing";

export default createMiddleware(routing);

/** All paths but files and APIs. The health route is not left out. */
export const config = { matcher: "/((?!api|_next|.*\\..*).*)" };
