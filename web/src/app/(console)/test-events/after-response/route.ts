import { setTimeout as pause } from "node:timers/promises";
import { captureException } from "@sentry/nextjs";
import { redirect } from "next/navigation";
import { after } from "next/server";
import { requireConsole } from "../../../../console/guard";

const WORK_MS = 5_000;

export async function GET(): Promise<never> {
  await requireConsole();
  after(async () => {
    await pause(WORK_MS);
    // Next itself only logs what throws here.
    captureException(new Error("Thrown on purpose after the response"));
  });
  redirect("/test-events");
}
