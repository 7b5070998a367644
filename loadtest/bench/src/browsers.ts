import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { rolldown } from "rolldown";
import openNamespace, { isolated } from "../../../web/e2e/network/namespace.ts";
import { bench } from "./docker.ts";
import type { Sending } from "./page.ts";

/** Where a contender's pages come from, and how they send. */
export type Sender = Sending & { origin: string };

/** Open pages that send events until they are stopped. */
export interface Senders {
  /** Ends the sending and waits for the last response; pages stay open, so that a browser's queue can empty. */
  stop(): Promise<void>;
  /** The ids of what all pages together have sent. */
  ids(): Promise<string[]>;
  close(): Promise<void>;
}

/** Chromium with a network of its own, in which only this machine's loopback can be reached. */
export async function startBrowser() {
  const closeNamespace = await openNamespace();
  const executablePath = isolated?.executablePath ?? (process.env.CHROMIUM_PATH || undefined);
  const args = [...(isolated?.args ?? []), ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
  const browser = await chromium.launch({ executablePath, args });
  const script = await bundle();
  return {
    /** Opens so many pages, each of them in a browser profile of its own, as so many users. */
    open: async (sender: Sender, count: number): Promise<Senders> => {
      const profiles = Array.from({ length: count }, () => browser.newContext({ ignoreHTTPSErrors: true }));
      const contexts = await Promise.all(profiles);
      const pages = await Promise.all(contexts.map((context) => openPage(context, sender, script)));
      const inAll = <Result>(code: string) => Promise.all(pages.map((page) => page.evaluate<Result>(code)));
      return {
        stop: async () => void (await inAll("sending.stop()")),
        ids: async () => (await inAll<string[]>("sending.ids()")).flat(),
        close: async () => void (await Promise.all(contexts.map((context) => context.close()))),
      };
    },
    close: async () => {
      await browser.close();
      await closeNamespace();
    },
  };
}

async function openPage(context: BrowserContext, sender: Sender, script: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${sender.origin}/healthz`);
  await page.evaluate(`${script}; globalThis.sending = page.startSending(${JSON.stringify(sender)}); undefined`);
  return page;
}

/**
 * Returns the script of page.ts. What web/telemetry imports from the SDK comes from the browser's package of the same version. Throws on
 * an import that cannot be resolved.
 */
export async function bundle(): Promise<string> {
  const sdk = `${bench}/node_modules/@sentry/browser`;
  const alias = { "#sdk": sdk, "@sentry/browser": sdk };
  const onLog = (_level: string, { message }: { message: string }) => {
    throw new Error(message);
  };
  const build = await rolldown({ input: `${bench}/src/page.ts`, platform: "browser", resolve: { alias }, onLog });
  const { output } = await build.generate({ format: "iife", name: "page" });
  await build.close();
  return output[0].code;
}

/** Forwards a port of localhost, which is all that the browser reaches; returns the port. */
export async function forward(target: { host: string; port: number }): Promise<number> {
  const server = createServer((inside) => {
    const outside = connect(target);
    inside.on("error", () => outside.destroy()).on("close", () => outside.destroy());
    outside.on("error", () => inside.destroy()).on("close", () => inside.destroy());
    inside.pipe(outside).pipe(inside);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  server.unref();
  return (server.address() as AddressInfo).port;
}
