// Laid into a copy of web/: with this file there, the SDK runs its tunnel in a route handler instead of a rewrite.
export { POST } from "@sentry/nextjs/tunnel";
