export { onRouterTransitionStart } from "@culvert/nextjs/browser";
