import { request } from "node:https";
import { type Socket, connect as tcp } from "node:net";
import { checkServerIdentity, type TLSSocket, connect as tls } from "node:tls";
import type { Item } from "./api.ts";
import { type Environment, names } from "./environment.ts";
import { failed, ok, skipped } from "./result.ts";

const fiveSeconds = 5000;

/** Opens a connection; throws after 5 s. */
export const open = (host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = tcp({ host, port });
    socket.setTimeout(fiveSeconds, () => socket.destroy(new Error("no connection within 5 s")));
    socket.once("error", reject);
    socket.once("connect", () => resolve(socket));
  });

/** A TLS connection to the Service as a browser of the site opens it. */
async function secure(host: string, port: number, servername: string, settings: Environment): Promise<TLSSocket> {
  const socket = await open(host, port);
  if (settings.PROXY_PROTOCOL === "on") socket.write("PROXY UNKNOWN\r\n");
  return new Promise((resolve, reject) => {
    // The CA may be a private one: the name and the dates are checked below.
    const secured = tls({ socket, servername, rejectUnauthorized: false }, () => resolve(secured));
    secured.once("error", reject);
    socket.once("close", () => reject(new Error("the connection ends before TLS")));
  });
}

const status = (socket: TLSSocket, host: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = {
      host,
      "sentry-trace": "0123456789abcdef0123456789abcdef-0123456789abcdef-0",
      connection: "close",
    };
    const sent = request({ createConnection: () => socket, path, headers, timeout: 20_000 }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer within 20 s")));
    sent.on("error", reject);
    sent.end();
  });

/** The certificate for each host name, then pages, through the Service as its clients ask it; `page` is false if there can be none. */
export async function checkEntry(service: Item, settings: Environment, page: string | false): Promise<void> {
  const { clusterIP, ports, type } = service.spec;
  const port = ports.find(({ name }: { name: string }) => name === "https")?.port ?? 443;
  const [name = "localhost", ...others] = names(settings);
  const get = async (path: string) => status(await secure(clusterIP, port, name, settings), name, path);
  try {
    for (const one of [name, ...others]) checkCertificate(one, await secure(clusterIP, port, one, settings));
    if (page !== false) await checkPages(get, settings, page);
  } catch (error) {
    failed(`Service ${service.metadata.name}: port ${port}: ${(error as Error).message}`);
  }
  if (type === "LoadBalancer" && !service.status?.loadBalancer?.ingress?.length)
    skipped(`Service ${service.metadata.name}: the load balancer has no address yet`);
}

function checkCertificate(name: string, socket: TLSSocket): void {
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  const from = Date.parse(certificate.valid_from);
  const days = Math.floor((Date.parse(certificate.valid_to) - Date.now()) / 86_400_000);
  const change = "change the Secret that the proxy mounts";
  if (checkServerIdentity(name, certificate))
    failed(`certificate: not for ${name}, but for ${certificate.subjectaltname ?? certificate.subject?.CN}: ${change}`);
  else if (days < 0) failed(`certificate: expired on ${certificate.valid_to}: ${change}`);
  else if (from > Date.now()) failed(`certificate: valid only from ${certificate.valid_from}: ${change}`);
  else ok(`certificate: for ${name}, ${days} days left`);
}

async function checkPages(get: (path: string) => Promise<number>, settings: Environment, page: string): Promise<void> {
  const base = settings.BASE_PATH ?? "";
  const health = `${base}${settings.HEALTH_PATH || "/healthz"}`;
  const wanted = page ? `${base}${page}` : health;
  const found = await get(wanted);
  // Without a page of yours: any page that the app has rendered, a 404 too, as in its health check.
  const fine = page ? found < 400 || found === 401 || found === 403 : found < 500;
  if (fine) ok(`page ${wanted}: ${found}`);
  else return void failed(`page ${wanted}: ${found}: kubectl logs -l app.kubernetes.io/name=web`);
  const unknown = await get(`${base}/culvert-verify-no-such-page`);
  if (unknown === 404) ok("unknown page: 404");
  else if (unknown < 500) skipped(`unknown page: ${unknown}: the app has an answer for every path`);
  else failed(`unknown page: ${unknown}, not 404: kubectl logs -l app.kubernetes.io/name=web`);
}
