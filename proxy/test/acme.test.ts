import { randomBytes, randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker, label, must, restricted } from "../../deploy/test/support/docker.ts";
import { build, buildImage, buildWithDebian } from "../../deploy/test/support/images.ts";
import { type Pebble, startPebble } from "../../deploy/test/support/pebble.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { environmentOf, mountsOf } from "./testbed.ts";
import { inTurn, page, publicFolder, watchingCertificate } from "./use-proxy.ts";
import { peerCertificate, send } from "./wire.ts";

const host = "app.example.com";
const id = `culvert-acme-${randomUUID().slice(0, 8)}`;
const clients = ["main", "wrong", "external"].map((name) => `${id}-${name}`);
const [main = "", wrong = "", external = ""] = clients;
const volumes = clients.flatMap((name) => [name, `${name}-certificates`]);

let acmeImage: string;
let proxy: TestProxy;
let pebble: Pebble;
let network: string;
const addressOf = (container: string) =>
  must("inspect", "--format={{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", container);

async function startAcme(name: string, settings: Record<string, string>, mounts: Record<string, string> = {}) {
  const ca = { ACME_EMAIL: "ops@example.com", ACME_DIRECTORY: "https://ca.test/dir", ACME_CA_FILE: "/ca.crt" };
  const all = { SERVER_NAME: `, ${host},,www.example.com`, ...ca, ...settings };
  await must(
    "run",
    "-d",
    label,
    ...restricted,
    `--name=${name}`,
    `--network=${network}`,
    "--tmpfs=/tmp:uid=101,gid=101,mode=0700,size=16m",
    `--volume=${name}:/var/lib/acme`,
    `--volume=${name}-certificates:/srv/certificates`,
    ...mountsOf({ ...mounts, [pebble.caFile]: "/ca.crt" }),
    ...environmentOf(all),
    "--entrypoint=/acme/acme.sh",
    acmeImage,
  );
}
const linesOf = async (name: string): Promise<string[]> => (await must("logs", name)).split("\n");
const order = (name: string) => must("kill", "--signal=USR1", name);
const isSettled = async (name: string) => (await docker("exec", name, "test", "-e", "/tmp/settled")).code === 0;

const served = () => peerCertificate(proxy.port, host);
const fromCa = async () => /^Pebble/.test(String((await served()).issuer.CN));
/** The proxy looks each second here; the client, every 24. */
const eventually = { interval: 1_000 };
beforeAll(async () => {
  [acmeImage] = await Promise.all([buildImage("deploy/acme"), buildWithDebian(), build()]);
  for (const volume of volumes) await must("volume", "create", label, volume);
  proxy = await startProxy(
    { ACME: "on", SERVER_NAME: `${host} www.example.com` },
    { mounts: { [`${main}-certificates`]: "/srv/certificates", ...watchingCertificate() } },
  );
  await proxy.web.answer(page);
  network = await proxy.on("proxy", "inspect", "--format={{.HostConfig.NetworkMode}}");
  pebble = await startPebble(network, 15);
  for (const name of [host, "www.example.com"]) await pebble.point(name, await addressOf(`${network}-proxy`));
});
afterAll(async () => {
  await docker("rm", "-f", ...clients);
  await pebble?.stop();
  await proxy?.stop();
  await docker("volume", "rm", "-f", ...volumes);
});

test("ACME=on starts on the development certificate, and serves the CA's once it is there, for all names", async () => {
  expect(await fromCa()).toBe(false);
  // A request is cut off, and made again by the next start.
  await must("pause", pebble.container);
  await startAcme(main, { ACME_RETRY: "1" });
  await expect.poll(async () => (await must("top", main)).includes("uacme"), eventually).toBe(true);
  // A CA that does not answer must not stop the stack.
  await expect.poll(() => isSettled(main), eventually).toBe(true);
  expect((await linesOf(main)).at(-1)).toMatch(/^culvert acme: https:\/\/ca\.test\/dir: asked for a certificate for /);
  await must("kill", main);
  await must("unpause", pebble.container);
  await must("start", main);
  await expect.poll(fromCa, eventually).toBe(true);
  expect((await served()).subjectaltname).toBe(`DNS:${host}, DNS:www.example.com`);
  expect((await send(proxy.port, { path: "/", host })).headers["strict-transport-security"]).toBe("max-age=31536000");
  const look = "find /var/lib/acme /srv/certificates -type f -perm /077 -o -type f ! -user 101";
  expect(await must("exec", main, "sh", "-c", look)).toBe("");
  expect(await must("exec", main, "sh", "-c", "find /srv/certificates -name '*.key'")).not.toBe("");
});

test.each(["/.well-known/acme-challenge/", "/.well-known/acme-challenge/../current/server.key"])(
  "the plain port redirects every path but those of challenges: %s",
  async (path) => {
    expect((await send(proxy.at(8080), { path, headers: { host } })).status).toBe(308);
  },
);

test("it keeps the certificate while the CA is away, says so, and renews it under load when the CA is back: a new key, no failed request", async () => {
  // Between two orders: a request that is cut off waits for as long as TCP does.
  const ordered = (await linesOf(main)).length;
  await order(main);
  await expect.poll(async () => (await linesOf(main)).length, eventually).toBeGreaterThan(ordered);
  const lines = (await linesOf(main)).length;
  await must("network", "disconnect", network, main);
  await order(main);
  await expect
    .poll(async () => (await linesOf(main)).slice(lines).join("\n"), eventually)
    .toMatch(/^culvert acme: https:\/\/ca\.test\/dir: GET https:\/\/ca\.test\/dir failed: .*next attempt at /m);
  expect(await proxy.metric("culvert_certificate_renewal_failures")).toBeGreaterThan(0);
  const before = await served();
  expect(before.issuer.CN).toMatch(/^Pebble/);

  let isRenewed = false;
  const statuses = new Set<unknown>();
  const client = async () => {
    while (!isRenewed)
      statuses.add(await send(proxy.port, { path: "/page", host }).then(({ status }) => status, String));
  };
  const load = Promise.all([client(), client()]);
  await must("network", "connect", network, main);
  const another = async () => (await served()).serialNumber !== before.serialNumber;
  await expect.poll(another, eventually).toBe(true);
  isRenewed = true;
  await load;
  expect(statuses).toEqual(new Set([200]));
  expect((await served()).pubkey).not.toEqual(before.pubkey);
});

test("a name that leads elsewhere: one line says which, what was answered and when it goes on, also after a restart; the webhook gets the third failure", async () => {
  const webhook = await addressOf(`${network}-web`);
  await pebble.point("wrong.example.com", webhook);
  await startAcme(wrong, { SERVER_NAME: "wrong.example.com", NOTIFY_URL: `http://${webhook}:9000/hook?secret` });
  const failed = async () => (await linesOf(wrong)).filter((line) => line.includes("connection refused"));
  const fails = (times: number) => expect.poll(async () => (await failed()).length, eventually).toBe(times);
  await fails(1);
  await must("restart", "-t", "5", wrong);
  await fails(2);
  const [first, again] = await failed();
  expect(first).toMatch(
    /^culvert acme: wrong\.example\.com: .*http:\/\/wrong\.example\.com.*connection refused: point its DNS records at this host, .*; next attempt at 20\S+Z, /,
  );
  expect(again).toBe(first);
  expect(await isSettled(wrong)).toBe(true);
  const count = () => must("exec", wrong, "cat", "/srv/certificates/failures");
  expect(await count()).toBe("1");
  for (const times of [3, 4]) {
    await order(wrong);
    await fails(times);
  }
  expect(await count()).toBe("3");
  const { body } = await proxy.web.waitFor((request) => (request.url === "/hook?secret" ? request : undefined));
  const { text } = JSON.parse(Buffer.from(body, "base64").toString());
  expect(text).toMatch(/^culvert: renewing the certificate failed 3 times: wrong\.example\.com: .*; next attempt at /);
});

test("a CA that wants an external account: without one, with a wrong key, with the right one; no key is left behind", async () => {
  const folder = publicFolder();
  const [right, wrongKey] = [randomBytes(32), randomBytes(32)];
  await docker("rm", "-f", main, wrong);
  await pebble.stop();
  pebble = await startPebble(network, 60, right.toString("base64url"));

  /** Starts one with this key, and returns the line about its first attempt, once keys have been looked for in what it leaves. */
  const attempt = async (key?: Buffer) => {
    // As secrets are: one line, readable by any container. The CAs' pages show padded keys as well.
    if (key) writeFileSync(join(folder, "key"), `${key.toString("base64")}\n`);
    const eab = key && { ACME_EAB_KEY_ID: "key-1", ACME_EAB_KEY_FILE: "/run/key" };
    await startAcme(external, { SERVER_NAME: "nowhere.example.com", ...eab }, { [folder]: "/run" });
    await expect.poll(() => isSettled(external)).toBe(true);
    const lines = await linesOf(external);
    // The next attempt is not to wait for the pause after this one.
    const look = "cat /tmp/uacme.log; find /var/lib/acme -type f -exec cat {} +; rm -f /var/lib/acme/failure-*";
    const left = [await must("exec", external, "sh", "-c", look), ...lines, await must("inspect", external)].join("\n");
    for (const secret of [right, wrongKey])
      for (const form of ["base64", "base64url"] as const)
        expect(left).not.toContain(secret.toString(form).slice(0, 40));
    await must("rm", "-f", external);
    return lines.at(-1) ?? "";
  };
  const fix =
    /^culvert acme: https:\/\/ca\.test\/dir: [^:].*: check ACME_EMAIL, ACME_EAB_KEY_ID and .*; next attempt at /;
  const none = await attempt();
  expect(none).toMatch(fix);
  expect(none).toContain("this ACME server requires external credentials");
  expect(await attempt(wrongKey)).toMatch(fix);
  // It has an account, with which it asks for the name.
  expect(await attempt(right)).toMatch(/^culvert acme: nowhere\.example\.com: .*: point its DNS records at this host/);
  // The account is bound; the key is not needed again.
  expect(await attempt()).toMatch(/^culvert acme: nowhere\.example\.com: /);
});

test("an invalid setting is rejected in one line, which does not hold a key", async () => {
  const eab = (file: string) => ({ ACME_EAB_KEY_ID: "key-1", ACME_EAB_KEY_FILE: file });
  const cases: [settings: Record<string, string>, problem: string][] = [
    [{ SERVER_NAME: " ," }, "SERVER_NAME: '' is not a public name"],
    [{ ACME_DIRECTORY: "http://ca.test/dir" }, "ACME_DIRECTORY: 'http://ca.test/dir' is not an https address"],
    [{ ACME_CA_FILE: "/etc/hostname" }, "ACME_CA_FILE: '/etc/hostname' holds no certificate"],
    [{ ACME_EAB_KEY_ID: "key-1" }, "ACME_EAB_KEY_FILE: missing while ACME_EAB_KEY_ID is set"],
    [eab("/etc/passwd"), "ACME_EAB_KEY_FILE: '/etc/passwd' holds no key in base64url"],
  ];
  const all = cases.map(([settings]) => ({ SERVER_NAME: host, ...settings }));
  const outcomes = await inTurn(acmeImage, "/acme/acme.sh", all, ["--tmpfs=/tmp"]);
  expect(outcomes).toEqual(
    cases.map(([, problem]) => ({ code: 1, output: expect.stringMatching(`^culvert acme: ${problem}[^\n]*$`) })),
  );
  expect(outcomes.map(({ output }) => output).join()).not.toContain("root:");
});
