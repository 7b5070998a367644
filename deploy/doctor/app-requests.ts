// Asks the app for a page, in the app's own network namespace, as the proxy would: deploy/doctor/check-app.sh. Prints what came back.
import { networkInterfaces } from "node:os";
import type { Requests } from "./app/facts.ts";
import { type Answer, exchange } from "./http.ts";

const base = process.env.BASE_PATH ?? "";
const headers = {
  Host: "localhost",
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "localhost",
  Accept: "text/html",
};
const none: Answer = { status: 0, headers: {}, body: "" };
const get = (host: string, path: string) => exchange({ host, port: 3000, path, headers }).catch(() => none);

const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
const own = addresses.find(({ internal }) => !internal)?.address ?? "127.0.0.1";
let path = process.env.PAGE || base || "/";
let answer = await get(own, path);
// A redirect within the app, such as one to a language.
if (answer.headers.location?.startsWith("/")) {
  path = answer.headers.location;
  answer = await get(own, path);
}
const file = /(?:src|href)="(\/[^"]*_next\/static\/[^"]+)"/.exec(answer.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
const found: Requests = {
  loopback: (await get("127.0.0.1", path)).status,
  address: answer.status,
  path,
  policy: String(answer.headers["content-security-policy"] ?? ""),
  html: answer.body,
  file,
  fileStatus: file ? (await get(own, file)).status : 0,
};
console.log(JSON.stringify(found));
