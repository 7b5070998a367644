import { connect as connectH2 } from "node:http2";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Edge, startEdge } from "./edge.ts";
import { raw, send } from "./wire.ts";

const fine = { status: 200, headers: {}, body: "hello" };

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({}, { twoReplicas: true });
});
afterAll(() => edge?.stop());
beforeEach(async () => {
  await edge.web.answer(fine);
  await edge.web2?.answer(fine);
  // A replica that failed is left alone for a while: wait until it is asked again.
  const mark = await edge.web.count();
  while ((await edge.web.count()) === mark) await send(edge.port, { path: "/" });
});

const counts = async () => [await edge.web.count(), (await edge.web2?.count()) ?? 0] as const;
const times = (count: number, request: Parameters<typeof send>[1]) =>
  Promise.all(Array.from({ length: count }, () => send(edge.port, request)));

describe("two replicas of web", () => {
  test("share the requests", async () => {
    const before = await counts();
    await times(20, { path: "/shared" });
    const after = await counts();
    expect(after[0] - before[0]).toBeGreaterThan(0);
    expect(after[1] - before[1]).toBeGreaterThan(0);
  });
  test("one of which cuts connections: a GET is asked of the other, and nobody notices", async () => {
    await edge.web.answer({ ...fine, instead: "reset" });
    const mark = await edge.web.count();
    const answers = await times(20, { path: "/again" });
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
    expect(await edge.web.count()).toBeGreaterThan(mark);
  });
  test("one of which cuts connections: a POST is never sent twice", async () => {
    await edge.web.answer({ ...fine, instead: "reset" });
    const before = await counts();
    const answers = await times(20, { method: "POST", path: "/once", body: "a=1" });
    const after = await counts();
    expect(after[0] + after[1] - before[0] - before[1]).toBe(20);
    expect(answers.some((answer) => answer.status === 503)).toBe(true);
  });
});

test("a file of the new release is found on whichever replica has it", async () => {
  await edge.web.answer({ status: 404, headers: {}, body: "gone" });
  const paths = Array.from({ length: 20 }, (_, i) => `/_next/static/new-${i}.js`);
  const answers = await Promise.all(paths.map((path) => send(edge.port, { path })));
  expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
});

describe("tricks of a single connection", () => {
  test("a client that never ends its header is cut off, and web hears nothing", async () => {
    const before = await counts();
    await raw(edge.port, "GET /slow HTTP/1.1\r\nHost: localhost\r\nX-A: ");
    expect(await counts()).toEqual(before);
  });
  test("a client that never ends its body is cut off, and web hears nothing", async () => {
    const before = await counts();
    await raw(edge.port, "POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc");
    expect(await counts()).toEqual(before);
  });
  test.each([
    ["less", "3", "abcdef"],
    ["more", "9", "abc"],
  ])("an HTTP/2 body that is %s than its length never reaches web", async (_, length, body) => {
    const before = await counts();
    const session = connectH2(`https://localhost:${edge.port}`, { rejectUnauthorized: false });
    await new Promise<void>((resolve) => {
      const stream = session.request({ ":method": "POST", ":path": "/", "content-length": length });
      stream.on("error", () => resolve());
      stream.on("close", resolve).resume();
      stream.end(body);
    });
    session.destroy();
    expect(await counts()).toEqual(before);
  });
});
