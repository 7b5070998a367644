import { copyFileSync, renameSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expire, makePair } from "../../deploy/test/support/certificate.ts";
import { page, publicFolder, useProxy } from "./use-proxy.ts";
import { peerCertificate } from "./wire.ts";

const host = "app.example.com";
const folder = publicFolder();
const live = { key: join(folder, "live.key"), crt: join(folder, "live.crt") };

/** Copies a pair over the files that the proxy has. */
function install(name: string) {
  for (const [end, file] of Object.entries(live)) copyFileSync(join(folder, `${name}.${end}`), file);
}

/** Puts another file in the place of one, as `mv` does: a running container does not see it. */
function replace(path: string, name: string) {
  copyFileSync(join(folder, name), `${path}.new`);
  renameSync(`${path}.new`, path);
}

for (const name of ["first", "second", "expired"]) makePair(join(folder, name), [host], name);
expire(join(folder, "expired"));
install("first");
const shared = useProxy(
  { SERVER_NAME: host, TLS_CERT_FILE: "/tls/live.crt", TLS_KEY_FILE: "/tls/live.key" },
  // One by one, as compose gives secrets to a container.
  { mounts: { [live.crt]: "/tls/live.crt", [live.key]: "/tls/live.key" } },
);

const servedName = async () => (await peerCertificate(shared.proxy.port, host)).subject.O;
/** Waits until the proxy serves this pair: it looks every five seconds. */
const served = (name: string) => expect.poll(servedName).toBe(name);
/** Waits until the proxy has logged this. */
const logged = (line: RegExp) => expect.poll(() => shared.proxy.log()).toMatch(line);
const metric = (name: string) => shared.proxy.metric(`culvert_certificate_${name}`);

describe("a certificate of one's own", () => {
  test("is served, with HSTS", async () => {
    expect(await servedName()).toBe("first");
    const hsts = async (name: string) =>
      (await shared.through({ host: name })).answer.headers["strict-transport-security"];
    expect([await hsts(host), await hsts("localhost")]).toEqual(["max-age=31536000", undefined]);
  });
  test("is replaced when its file changes, without a reload: a request in flight ends well, the processes stay", async () => {
    const workers = () => shared.proxy.inside("cat /proc/$(cat /tmp/nginx.pid)/task/*/children");
    const before = await workers();
    expect(before).toMatch(/\d+ \d+/);
    await shared.proxy.web.answer({ ...page, body: "begun ", rest: "ended" });
    const slow = shared.through({ path: "/slow" });
    install("second");
    await served("second");
    await shared.proxy.web.proceed();
    expect((await slow).answer.body).toBe("begun ended");
    expect(await workers()).toBe(before);
    const { valid_from, valid_to } = await peerCertificate(shared.proxy.port, host);
    expect(await metric("expiry_timestamp_seconds")).toBe(Date.parse(valid_to) / 1000);
    expect(await metric("not_before_timestamp_seconds")).toBe(Date.parse(valid_from) / 1000);
  });
  test("is served on while its files are empty, and replaced by what they hold next", async () => {
    for (const file of Object.values(live)) truncateSync(file);
    await logged(/are not a valid pair/);
    expect(await servedName()).toBe("second");
    install("first");
    await served("first");
  });
  test("that is put in the place of its file is served after a restart", async () => {
    replace(live.crt, `second.crt`);
    replace(live.key, `second.key`);
    await shared.proxy.restart("proxy");
    expect([await servedName(), await metric("rejected")]).toEqual(["second", 0]);
  });
  test("whose key is another's: a restart serves the one before, and says so in log and metric", async () => {
    replace(live.key, "first.key");
    await shared.proxy.restart("proxy");
    expect([await servedName(), await metric("rejected")]).toEqual(["second", 1]);
    await logged(/is not the key of the certificate.*Serving the previous certificate, valid until \d{4}-/);
  });
  test("that has expired is served after a restart, and said in log and metric", async () => {
    replace(live.crt, "expired.crt");
    replace(live.key, "expired.key");
    await shared.proxy.restart("proxy");
    expect([await servedName(), await metric("rejected")]).toEqual(["expired", 0]);
    await logged(/culvert proxy: the certificate has expired: browsers refuse the site until it is renewed/);
    expect(await metric("expiry_timestamp_seconds")).toBeLessThan(Date.now() / 1000);
  });
});
