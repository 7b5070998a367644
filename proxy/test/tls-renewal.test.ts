import { chmodSync, copyFileSync, mkdtempSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expire, makePair } from "../../deploy/test/support/certificate.ts";
import { hardened, label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { page } from "./use-proxy.ts";
import { send } from "./wire.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-"));
const live = { key: join(folder, "live.key"), crt: join(folder, "live.crt") };

/** Copies a pair over the files that the proxy has. */
function install(name: string) {
  for (const [end, file] of Object.entries(live)) copyFileSync(join(folder, `${name}.${end}`), file);
}

let proxy: TestProxy;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  for (const name of ["first", "second"]) makePair(join(folder, name), ["app.example.com"], name);
  makePair(join(folder, "expired"), ["app.example.com"]);
  expire(join(folder, "expired"), "expired");
  writeFileSync(join(folder, "text"), "hello\n");
  install("first");
  proxy = await startProxy(
    { SERVER_NAME: "app.example.com", TLS_CERT_FILE: "/tls/live.crt", TLS_KEY_FILE: "/tls/live.key" },
    // One by one, as compose gives secrets to a container.
    { mounts: { [live.crt]: "/tls/live.crt", [live.key]: "/tls/live.key" } },
  );
});
afterAll(() => proxy?.stop());

/** The proxy looks every five seconds. */
const polling = { timeout: 240_000, interval: 100 };

/** The certificate that a new connection gets. */
const peer = () =>
  new Promise<PeerCertificate>((resolve, reject) => {
    const options = { host: "127.0.0.1", port: proxy.port, servername: "app.example.com", rejectUnauthorized: false };
    const socket = connect(options, () => {
      resolve(socket.getPeerCertificate());
      socket.end();
    });
    socket.on("error", reject);
  });

/** Waits until the proxy serves this pair. */
const served = (name: string) => expect.poll(async () => (await peer()).subject.O, polling).toBe(name);

/** Puts another file in the place of one, as `mv` does: a running container does not see it. */
function replace(path: string, name: string) {
  copyFileSync(join(folder, name), `${path}.new`);
  renameSync(`${path}.new`, path);
}

async function restart() {
  // The proxy asks web before it is ready.
  await proxy.web.answer(page);
  await proxy.restart("proxy");
}

/** The value of a metric without labels. */
const metric = async (name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await proxy.internal("/metrics"))?.[1]);

/** Waits until the proxy has logged this, after the first `mark` characters. */
const logged = (line: RegExp, mark = 0) =>
  expect.poll(async () => (await proxy.on("proxy", "logs")).slice(mark), { ...polling, interval: 500 }).toMatch(line);

describe("a certificate of one's own", () => {
  test("is served, with HSTS", async () => {
    expect((await peer()).subject.O).toBe("first");
    expect((await send(proxy.port, { path: "/", host: "app.example.com" })).headers["strict-transport-security"]).toBe(
      "max-age=31536000",
    );
    expect(
      (await send(proxy.port, { path: "/", host: "localhost" })).headers["strict-transport-security"],
    ).toBeUndefined();
  });
  test("is replaced when its file changes, and a request in flight ends well", async () => {
    await proxy.web.answer({ status: 200, headers: {}, body: "begun ", rest: "ended" });
    const slow = send(proxy.port, { path: "/slow" });
    install("second");
    await served("second");
    await proxy.web.proceed();
    expect((await slow).body).toBe("begun ended");
  });
  test("is replaced without a reload: the connections in use and the processes stay", async () => {
    const workers = () => proxy.on("proxy", "exec", "sh", "-c", "cat /proc/$(cat /tmp/nginx.pid)/task/*/children");
    const before = await workers();
    expect(before).toMatch(/\d+ \d+/);
    install("first");
    await served("first");
    expect(await workers()).toBe(before);
    install("second");
    await served("second");
  });
  test("is served on while its files are empty, and replaced by what they hold next", async () => {
    for (const file of Object.values(live)) truncateSync(file);
    await logged(/are not a valid pair/);
    expect((await peer()).subject.O).toBe("second");
    install("first");
    await served("first");
  });
  test("is replaced in the end when that fails at first, and so is the date in the metrics", async () => {
    const inside = (script: string) => proxy.on("proxy", "exec", "sh", "-c", script);
    await inside("chmod 500 /tmp/nginx");
    const mark = (await proxy.on("proxy", "logs")).length;
    install("second");
    await logged(/are not a valid pair/, mark);
    await inside("chmod 700 /tmp/nginx");
    await served("second");
    const { valid_from, valid_to } = await peer();
    expect(await metric("culvert_certificate_expiry_timestamp_seconds")).toBe(Date.parse(valid_to) / 1000);
    expect(await metric("culvert_certificate_not_before_timestamp_seconds")).toBe(Date.parse(valid_from) / 1000);
  });
  test("that is put in the place of its file is served after a restart", async () => {
    replace(live.crt, `first.crt`);
    replace(live.key, `first.key`);
    await restart();
    expect((await peer()).subject.O).toBe("first");
    expect(await metric("culvert_certificate_rejected")).toBe(0);
  });
  test.each([
    ["whose key is another's", "second.key", /TLS_KEY_FILE '\/tls\/live.key' is not the key of the certificate/],
    ["whose key is no key", "text", /TLS_KEY_FILE '\/tls\/live.key' is not a private key/],
  ])("%s: a restart serves the one before, and says so in log and metric", async (_, key, line) => {
    replace(live.key, key);
    await restart();
    expect((await peer()).subject.O).toBe("first");
    await logged(line);
    await logged(/Serving the previous certificate, valid until \d{4}-/);
    expect(await metric("culvert_certificate_rejected")).toBe(1);
  });
  test("that has expired is served after a restart, and said in log and metric", async () => {
    replace(live.crt, "expired.crt");
    replace(live.key, "expired.key");
    await restart();
    expect((await peer()).subject.O).toBe("expired");
    await logged(/culvert proxy: the certificate has expired: browsers refuse the site until it is renewed/);
    expect(await metric("culvert_certificate_rejected")).toBe(0);
    expect(await metric("culvert_certificate_expiry_timestamp_seconds")).toBeLessThan(Date.now() / 1000);
  });
});

test("a certificate that changes between its copy and the watch is loaded", async () => {
  const script = `set -eu
    mkdir /tmp/nginx && cp /tls/live.* /tmp
    /culvert/entrypoint.d/install-certificate.sh /tmp/live.crt /tmp/live.key
    cp /tls/second.crt /tmp/live.crt && cp /tls/second.key /tmp/live.key
    /culvert/entrypoint.d/watch-certificate.sh
    timeout 60 sh -c 'until cmp -s /tls/second.crt /tmp/nginx/certificate/server.crt; do sleep 0.2; done' && echo loaded`;
  const settings = {
    ACME: "off",
    RENDERED: "/tmp/nginx",
    TLS_CERT_FILE: "/tmp/live.crt",
    TLS_KEY_FILE: "/tmp/live.key",
    LAST_PAIR: "/tmp/last.pem",
  };
  const environment = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  const options = [
    "--rm",
    label,
    "--network=none",
    ...hardened,
    ...environment,
    `--volume=${folder}:/tls:ro`,
    "--entrypoint=sh",
  ];
  expect(await must("run", ...options, await build(), "-c", script)).toMatch(/^loaded$/m);
});
