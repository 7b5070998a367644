// Asks the app for a page, in the app's own network namespace, as the proxy would: deploy/doctor/check-app.sh. Prints what came back.
import { randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";
import type { Requests } from "./app/facts.ts";
import { type Answer, exchange } from "./http.ts";

const base = process.env.BASE_PATH ?? "";
const nonce = randomBytes(16).toString("base64");
const headers = {
  Host: "localhost",
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "localhost",
  Accept: "text/html",
  // What an app gets that asks for the strict headers.
  "Content-Security-Policy": `script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'self' 'nonce-${nonce}'`,
};
const none: Answer = { status: 0, headers: {}, body: "" };
const get = (host: string, path: string) => exchange({ host, port: 3000, path, headers }).catch(() => none);

/** Follows a redirect within the app, such as one to a language. */
async function page(host: string, path: string): Promise<[string, Answer]> {
  const answer = await get(host, path);
  const { location } = answer.headers;
  if (answer.status < 300 || answer.status >= 400 || !location?.startsWith("/")) return [path, answer];
  return [location, await get(host, location)];
}

const own =
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one && !one.internal)?.address ?? "127.0.0.1";
const [path, answer] = await page(own, process.env.PAGE || base || "/");
const loopback = await get("127.0.0.1", path);
const file = /(?:src|href)="([^"]*\/_next\/static\/[^"]+)"/.exec(answer.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
const found: Requests = {
  loopback: loopback.status,
  address: answer.status,
  path,
  headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
  html: answer.body,
  file: file.startsWith("/") ? file : "",
  fileStatus: file.startsWith("/") ? (await get(own, file)).status : 0,
  nonce,
};
console.log(JSON.stringify(found));
