import { expect, test } from "vitest";
import { useProxy } from "./use-proxy.ts";

const shared = useProxy({ ASSET_RETENTION: "15s" });

/** Whether the proxy's store still holds this file: asking for it would renew it. */
async function isStored(path: string): Promise<boolean> {
  const search = `grep -rl 'KEY: ${path} ' /var/lib/culvert/static || true`;
  return (await shared.proxy.on("proxy", "exec", "sh", "-c", search)) !== "";
}

test("a replaced release's file is answered while it is asked for, and gone ASSET_RETENTION after", {
  timeout: 120_000,
}, async () => {
  const script = {
    status: 200,
    headers: { "content-type": "application/javascript", "cache-control": "max-age=31536000, immutable" },
    body: "1",
  };
  const [wanted, idle] = ["/_next/static/wanted.js", "/_next/static/idle.js"];
  await shared.proxy.web.answer(script);
  for (const path of [wanted, idle]) expect((await shared.through({ path })).answer.status).toBe(200);
  expect(await isStored(idle)).toBe(true);

  // The new release has neither. By the time that one has left the store, the other is older than ASSET_RETENTION as well.
  await shared.proxy.web.answer({ status: 404, headers: { "content-type": "text/html" }, body: "gone" });
  const statuses = new Set<number>();
  const goneWhileWantedIsAskedFor = async () => {
    statuses.add((await shared.through({ path: wanted })).answer.status);
    return !(await isStored(idle));
  };
  await expect.poll(goneWhileWantedIsAskedFor, { timeout: 90_000, interval: 1_000 }).toBe(true);
  expect([...statuses, (await shared.through({ path: wanted })).answer.status]).toEqual([200, 200]);
  const { answer } = await shared.through({ path: idle });
  expect(answer).toMatchObject({ status: 404, headers: { "x-robots-tag": "noindex" } });
});
