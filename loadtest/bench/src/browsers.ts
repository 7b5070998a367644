import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { chromium } from "playwright-core";
import { rolldown } from "rolldown";
import openNamespace, { isolated } from "../../../web/e2e/network/namespace.ts";
import type { Sending } from "./page.ts";
import { bench } from "./stack.ts";

/** Where a contender's pages come from, and how they send. */
export type Sender = Sending & { origin: string };

/** Chromium with a network of its own, in which only this machine's loopback can be reached. */
export async function startBrowser() {
  const closeNamespace = await openNamespace();
  const executablePath = isolated?.executablePath ?? (process.env.CHROMIUM_PATH || undefined);
  const args = [...(isolated?.args ?? []), ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
  const browser = await chromium.launch({ executablePath, args });
  const script = await bundle();
  return {
    /** Opens so many pages, each of them in a browser profile of its own, as so many users. */
    open: async (sender: Sender, count: number) => {
      const profiles = Array.from({ length: count }, () => browser.newContext({ ignoreHTTPSErrors: true }));
      const contexts = await Promise.all(profiles);
      const pages = await Promise.all(contexts.map((context) => context.newPage()));
      await Promise.all(pages.map((page) => page.goto(`${sender.origin}/healthz`)));
      const code = `${script}; globalThis.stopSending = page.startSending(${JSON.stringify(sender)}); undefined`;
      await Promise.all(pages.map((page) => page.evaluate(code)));
      return {
        /** Ends the sending; returns the ids of what was sent. Pages stay open, so that a browser's queue can empty. */
        stop: async () => (await Promise.all(pages.map((page) => page.evaluate<string[]>("stopSending()")))).flat(),
        close: () => Promise.all(contexts.map((context) => context.close())),
      };
    },
    close: async () => {
      await browser.close();
      await closeNamespace();
    },
  };
}

/** The script of page.ts. What web/telemetry imports from the SDK comes from the browser's package of the same version. */
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
