export { GET } from "@culvert/nextjs/health";

export const dynamic = "force-dynamic";
