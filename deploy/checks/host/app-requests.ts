// Asks the app for a page, in its network namespace, as the proxy would.
import { networkInterfaces } from "node:os";
import { type Answer, exchange } from "../http.ts";
import type { Requests } from "./check-app.ts";

const headers = {
  Host: "localhost",
  Accept: "text/html",
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "localhost",
};
const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
const host = addresses.find(({ internal }) => !internal)?.address;
const none: Answer = { status: 0, headers: {}, body: "" };
const get = (path: string) => exchange({ host, port: 3000, path, headers }).catch(() => none);

let path = process.env.PAGE || process.env.BASE_PATH || "/";
let answer = await get(path);
// Such as to a language.
if (answer.headers.location?.startsWith("/")) {
  path = answer.headers.location;
  answer = await get(path);
}
const { status, body: html } = answer;
const policy = String(answer.headers["content-security-policy"] ?? "");
const file = /(?:src|href)="(\/[^"]*_next\/static\/[^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
const fileStatus = file ? (await get(file)).status : 0;
const named = ["link", "content-location", "refresh", "access-control-allow-origin"].flatMap((name) => {
  const value = String(answer.headers[name] ?? "");
  return /\/\/(?:0\.0\.0\.0|\[::\])(?=[:/>;]|$)/.test(value) ? [`${name}: ${value}`] : [];
});
const unreachable = named.join(", ");
console.log(JSON.stringify({ path, status, policy, html, file, fileStatus, unreachable } satisfies Requests));
