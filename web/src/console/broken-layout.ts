import { cookies } from "next/headers";
import { settings } from "../settings";

const COOKIE = "culvert-broken-layout";
const SECONDS = 4;

/** Makes the root layout fail for this browser, for a few seconds, after which a retry works. */
export async function breakLayout(): Promise<void> {
  (await cookies()).set(COOKIE, "1", { maxAge: SECONDS, httpOnly: true, sameSite: "strict", path: "/" });
}

/** Throws while this browser's layout is to fail; never without the console. */
export async function failIfBroken(): Promise<void> {
  if (settings().console && (await cookies()).has(COOKIE)) throw new Error("Thrown on purpose in the root layout");
}
