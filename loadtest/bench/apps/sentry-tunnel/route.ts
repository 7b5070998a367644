// Added to a copy of web/, so that the SDK runs its tunnel in a route handler instead of a rewrite.
export { POST } from "@sentry/nextjs/tunnel";
