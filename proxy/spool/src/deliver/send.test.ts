import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSend } from "./send.ts";

// A listener that accepts nothing: its process is stopped, its queue is full.
const fillers: Socket[] = [];
let listener: ChildProcess;
let port: number;
beforeAll(async () => {
  const code =
    "const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))";
  listener = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(listener.stdout as NonNullable<typeof listener.stdout>, "data");
  port = Number(line);
  listener.kill("SIGSTOP");
  for (let at = 0; at < 4; at += 1) fillers.push(connect({ port, host: "127.0.0.1" }).on("error", () => {}));
  await once(fillers[0] as Socket, "connect");
});
afterAll(() => {
  for (const socket of fillers) socket.destroy();
  listener.kill("SIGKILL");
});

test("an ingest that accepts no connection is given up before it times out: the envelope cannot have arrived", async () => {
  const response = await createSend(undefined)(`http://127.0.0.1:${port}/`, {} as never, [Buffer.from("x")]);
  expect(response).toEqual({ error: "no connection", mayHaveArrived: false });
});
