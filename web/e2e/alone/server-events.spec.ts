import { inside, on } from "../containers.ts";
import { freshTrace, itemsIn, of } from "../envelopes.ts";
import { expect, test } from "../fixtures.ts";
import { recorder } from "../stack.ts";

/** The result of a call from inside web: the response's status, or "unreachable". */
async function fromWeb(url: string): Promise<string> {
  const script = `fetch(${JSON.stringify(url)}, { signal: AbortSignal.timeout(3000) }).then(r => r.status, () => "unreachable").then(console.log)`;
  return (await inside("web", "node", "-e", script)).output.trim();
}

/** The addresses of a service's container, one for each of its networks. */
async function addresses(service: string): Promise<string[]> {
  const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
  return (await on(service, "inspect", `--format=${format}`)).split(" ");
}

test("web reaches the proxy's listener, the spool and its upstream, and nothing outside", async () => {
  await expect.poll(() => fromWeb("http://proxy:8083/envelopes")).toBe("405");
  await expect.poll(() => fromWeb("http://spool:8082/healthz")).toBe("200");
  await expect.poll(() => fromWeb("http://upstream:9000/upstream")).toBe("200");
  const [recorderAddress = ""] = await addresses("recorder");
  for (const host of ["recorder:9000", `${recorderAddress}:9000`, "sentry.io", "1.1.1.1"]) {
    expect(await fromWeb(`http://${host}/`), host).toBe("unreachable");
  }
  // From the proxy's networks the same address is reachable.
  const { code } = await inside("proxy", "curl", "-sS", `http://${recorderAddress}:9000/`);
  expect(code).toBe(0);
});

test("an exception on the server while the ingest is down is queued, and delivered when it is back", async ({
  page,
  request,
}) => {
  const ok = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };
  let trace = freshTrace();
  let mark = 0;
  await recorder.answer({ ...ok, status: 503 });
  try {
    // Retried while the SDK still honours a rate limit of an earlier test.
    await expect(async () => {
      trace = freshTrace();
      const response = await request.get("/test-events/server-exception", { headers: trace.headers });
      const id = response.headers()["x-request-id"] ?? "";
      const row = page.getByRole("region", { name: "Table: Sent by this server" }).getByRole("row", { name: id });
      await expect(async () => {
        await page.goto("/test-events");
        await expect(row).toBeVisible({ timeout: 3_000 });
      }).toPass({ timeout: 30_000 });
      await expect(row).toContainText("the ingest did not accept it; it is queued in the spool", { timeout: 100 });
    }).toPass({ timeout: 360_000 });
  } finally {
    mark = await recorder.count();
    await recorder.answer(ok);
  }
  await recorder.waitFor((sent) => itemsIn(sent, "event").find(of(trace.id)), mark);
});
