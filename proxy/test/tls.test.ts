import { copyFileSync, renameSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type ConnectionOptions, getCiphers, type SecureVersion } from "node:tls";
import { describe, expect, test } from "vitest";
import { expire, makePair } from "../../deploy/test/support/certificate.ts";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { page, publicFolder, useProxy, watchingCertificate } from "./use-proxy.ts";
import { peerCertificate, shakeHands } from "./wire.ts";

const host = "app.example.com";
const folder = publicFolder();
const live = { key: join(folder, "live.key"), crt: join(folder, "live.crt") };

function install(name: string) {
  for (const [end, file] of Object.entries(live)) copyFileSync(join(folder, `${name}.${end}`), file);
}

makePair(join(folder, "first"), [host], "first", "rsa");
for (const name of ["second", "expired"]) makePair(join(folder, name), [host], name);
expire(join(folder, "expired"));
install("first");
// One by one, as compose gives secrets to a container.
const mounts = { [live.crt]: "/tls/live.crt", [live.key]: "/tls/live.key" };
const shared = useProxy(
  { SERVER_NAME: host, HTTP3: "on", TLS_CERT_FILE: "/tls/live.crt", TLS_KEY_FILE: "/tls/live.key" },
  { mounts: { ...mounts, ...watchingCertificate() } },
);

/** TLS 1.3 has no strengths to choose from. */
const only = (version: SecureVersion, suites = "ALL"): ConnectionOptions => ({
  minVersion: version,
  maxVersion: version,
  ciphers: version === "TLSv1.3" ? suites : `${suites}:@SECLEVEL=0`,
});

const suites = getCiphers().map((name) => name.toUpperCase());
async function accepted(version: SecureVersion): Promise<string[]> {
  const ofVersion = suites.filter((name) => name.startsWith("TLS_") === (version === "TLSv1.3"));
  const tried = ofVersion.map(async (suite) => {
    await shakeHands(shared.proxy.port, only(version, suite));
    return suite;
  });
  const outcomes = await Promise.allSettled(tried);
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : [])).sort();
}

async function expectStrong(kind: string) {
  const strong = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"];
  expect(await accepted("TLSv1.2")).toEqual(strong.map((name) => `ECDHE-${kind}-${name}`));
}

describe("of all that a client can ask for", () => {
  test("TLS 1.3 accepts its three suites", async () => {
    expect(await accepted("TLSv1.3")).toEqual([
      "TLS_AES_128_GCM_SHA256",
      "TLS_AES_256_GCM_SHA384",
      "TLS_CHACHA20_POLY1305_SHA256",
    ]);
  });
  test("TLS 1.2 accepts strong suites only, with an RSA certificate", async () => {
    expect(suites).toContain("AES128-SHA");
    await expectStrong("RSA");
  });
  // The alert shows that the proxy rejects it, not a client that lacks it.
  test.each(["TLSv1", "TLSv1.1"] as const)("%s is rejected", async (version) => {
    await expect(shakeHands(shared.proxy.port, only(version))).rejects.toThrow(/alert protocol version/);
  });
  test("no ticket is given that holds a session's keys", async () => {
    expect((await shakeHands(shared.proxy.port, only("TLSv1.2"))).ticket).toBeUndefined();
  });
});

test("HTTP/3 is offered, and tells web the same", async () => {
  expect((await shared.through()).answer.headers["alt-svc"]).toBe('h3=":8443"; ma=86400');
  const mark = await shared.proxy.web.count();
  const curl = "curl -sk --http3-only -o /dev/null -w %{http_version} https://localhost:8443/h3".split(" ");
  expect(await shared.proxy.on("proxy", "exec", ...curl)).toBe("3");
  const [request] = await shared.proxy.web.all(mark);
  expect(request && headerOf(request, "x-forwarded-host")).toBe("localhost:8443");
});

/** As `mv` does: a running container does not see it. */
function replace(path: string, name: string) {
  copyFileSync(join(folder, name), `${path}.new`);
  renameSync(`${path}.new`, path);
}

const servedName = async () => (await peerCertificate(shared.proxy.port, host)).subject.O;
const served = (name: string) => expect.poll(servedName).toBe(name);
const logged = (line: RegExp) => expect.poll(() => shared.proxy.log()).toMatch(line);
const metric = (name: string) => shared.proxy.metric(`culvert_certificate_${name}`);

describe("a certificate of one's own", () => {
  test("is served", async () => expect(await servedName()).toBe("first"));
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
  test("may be of ECDSA: TLS 1.2 accepts the same suites", () => expectStrong("ECDSA"));
  test.each([
    ["second", "are empty", () => Object.values(live).map((file) => truncateSync(file))],
    ["first", "are of two pairs, of other types", () => copyFileSync(join(folder, "second.crt"), live.crt)],
  ])("%s is served on while its files %s, and replaced by what they hold next", async (name, _, spoil) => {
    const refusals = async () => (await shared.proxy.log()).match(/are not a valid pair/g)?.length ?? 0;
    const before = await refusals();
    spoil();
    await expect.poll(refusals).toBeGreaterThan(before);
    expect(await servedName()).toBe(name);
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
