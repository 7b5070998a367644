export { GET } from "@culvert/nextjs/health";
