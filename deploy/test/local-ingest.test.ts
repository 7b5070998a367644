import { afterAll, expect, test } from "vitest";
import { label, must, restricted } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

const name = `culvert-local-ingest-${process.pid}`;
afterAll(() => must("rm", "-f", name));

test("the local ingest answers as Sentry's: JSON with the id of the event", async () => {
  const image = await buildImage("deploy/ingest");
  await must("run", "-d", label, `--name=${name}`, "--publish=127.0.0.1::8969", ...restricted, "--tmpfs=/tmp", image);
  const url = `http://${await must("port", name, "8969")}`;
  const isUp = () =>
    fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isUp).toBe(true);
  const post = async (header: string) => {
    const body = `${header}\n{"type":"event"}\n{}\n`;
    const response = await fetch(`${url}/api/1/envelope/`, { method: "POST", body });
    return [response.status, response.headers.get("content-type"), await response.text()];
  };
  const ids = ["1", "2", "3"].map((digit) => digit.repeat(32));
  const answers = await Promise.all(ids.map((id) => post(`{"sent_at":"2026-01-01","event_id":"${id}"}`)));
  expect(answers).toEqual(ids.map((id) => [200, "application/json", `{"id":"${id}"}`]));
  expect(await post("{}")).toEqual([200, "application/json", "{}"]);
});
