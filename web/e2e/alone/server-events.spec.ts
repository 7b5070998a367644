import { inside, on } from "../containers.ts";
import { expect, test } from "../fixtures.ts";

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
