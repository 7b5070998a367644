import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker, label, must } from "../../deploy/test/support/docker.ts";
import { buildImage, buildWithDebian } from "../../deploy/test/support/images.ts";
import { type Pebble, startPebble } from "../../deploy/test/support/pebble/pebble.ts";
import { isSettled, linesOf, startAcmeClient } from "./acme-client.ts";

const id = `culvert-eab-${randomUUID().slice(0, 8)}`;
const [account, certificates] = [`${id}-account`, `${id}-certificates`];
const folder = mkdtempSync(join(tmpdir(), "culvert-eab-"));
const keys = { right: randomBytes(32), wrong: randomBytes(32) };
const keyFile = "/run/secrets/acme_eab_key";

let image: string;
let pebble: Pebble;
beforeAll(async () => {
  [image] = await Promise.all([buildImage("deploy/acme"), buildWithDebian()]);
  for (const volume of [account, certificates]) await must("volume", "create", label, volume);
  await must("network", "create", label, id);
  pebble = await startPebble(id, 60, keys.right.toString("base64url"));
  // As secrets are: one line, readable by any container. The CAs' pages show padded keys as well.
  for (const [name, key] of Object.entries(keys)) writeFileSync(join(folder, name), `${key.toString("base64")}\n`);
  chmodSync(folder, 0o755);
});
afterAll(async () => {
  await docker("rm", "-f", id);
  await pebble?.stop();
  await docker("network", "rm", id);
  await docker("volume", "rm", "-f", account, certificates);
  rmSync(folder, { recursive: true });
});

/** Starts one with this key, and returns the line about its first attempt, once its key has been looked for in what it leaves. */
async function attempt(key?: keyof typeof keys): Promise<string> {
  const settings = {
    SERVER_NAME: "nowhere.example.com",
    ...(key && { ACME_EAB_KEY_ID: "key-1", ACME_EAB_KEY_FILE: keyFile }),
  };
  await startAcmeClient(id, {
    ...{ image, network: id, caFile: pebble.caFile, volumes: [account, certificates], settings },
    // The attempt is not to wait for the pause after the one before.
    prepare: "rm -f /var/lib/acme/failure-*",
    mounts: key ? { [join(folder, key)]: keyFile } : {},
  });
  await expect.poll(() => isSettled(id)).toBe(true);
  const lines = await linesOf(id);
  const left = await must("exec", id, "sh", "-c", "cat /tmp/uacme.log; find /var/lib/acme -type f -exec cat {} +");
  for (const text of [left, lines.join("\n"), await must("inspect", id)])
    for (const secret of Object.values(keys))
      for (const form of ["base64", "base64url"] as const)
        expect(text).not.toContain(secret.toString(form).slice(0, 40));
  await must("rm", "-f", id);
  return lines.at(-1) ?? "";
}

test("a CA that wants an external account: without one, with a wrong key, with the right one", async () => {
  expect(await attempt()).toMatch(
    /^culvert acme: https:\/\/ca\.test\/dir: this ACME server requires external credentials.*: check ACME_EMAIL, ACME_EAB_KEY_ID and the key in ACME_EAB_KEY_FILE; /,
  );
  expect(await attempt("wrong")).toMatch(
    /^culvert acme: https:\/\/ca\.test\/dir: [^:].*: check ACME_EMAIL, ACME_EAB_KEY_ID and the key in ACME_EAB_KEY_FILE; next attempt at /,
  );
  // It has an account, with which it asks for the name.
  expect(await attempt("right")).toMatch(
    /^culvert acme: nowhere\.example\.com: .*: point its DNS records at this host/,
  );
  // The account is bound; the key is not needed again.
  expect(await attempt()).toMatch(/^culvert acme: nowhere\.example\.com: /);
});
