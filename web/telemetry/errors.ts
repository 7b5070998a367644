export { isReporting } from "./errors/error-boundary.js";
export { type Caught, ErrorPage, type ErrorPageProps } from "./errors/error-page.js";
export { GlobalErrorPage } from "./errors/global-error-page.js";
export { NotFoundTrace } from "./errors/not-found.js";
export { PagesErrorPage } from "./errors/pages-error-page.js";
export { requestIdOf } from "./errors/request-id.js";
