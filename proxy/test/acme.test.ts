import { randomUUID } from "node:crypto";
import { get } from "node:http";
import { connect, type PeerCertificate } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker, label, must, type Outcome, runProxy } from "../../deploy/test/support/docker.ts";
import { build, buildImage, buildWithDebian } from "../../deploy/test/support/images.ts";
import { type Pebble, startPebble } from "../../deploy/test/support/pebble/pebble.ts";
import { type AcmeClient, startAcmeClient } from "./acme-client.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { inTurn } from "./starts.ts";
import { page } from "./use-proxy.ts";
import { send } from "./wire.ts";

const host = "app.example.com";
const id = `culvert-acme-${randomUUID().slice(0, 8)}`;
const certificates = `${id}-certificates`;
const volumes = ["main", "wrong", "wrong-certificates", "limited", "limited-certificates", "certificates"].map(
  (name) => `${id}-${name}`,
);

let acmeImage: string;
let proxy: TestProxy;
let pebble: Pebble;
/** The one that serves the proxy. */
let main: AcmeClient;
let network: string;
/** The address of one of the proxy's containers on their network. */
const address = (service: "proxy" | "web") =>
  proxy.on(service, "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");

/** Starts one with volumes of its own, or with the certificates of the proxy. */
const startAcme = (
  name: string,
  settings: Record<string, string>,
  store = `${id}-${name}-certificates`,
  prepare?: string,
) =>
  startAcmeClient(`${id}-${name}`, {
    image: acmeImage,
    network,
    caFile: pebble.caFile,
    volumes: [`${id}-${name}`, store],
    settings: { SERVER_NAME: `${host} www.example.com`, ...settings },
    ...(prepare && { prepare }),
  });

/** The certificate that a new connection gets. */
const served = () =>
  new Promise<PeerCertificate>((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: proxy.port, servername: host, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate());
      socket.end();
    });
    socket.on("error", reject);
  });
/** The status of a path on the plain port, which is sent as it is. */
const plain = (path: string) =>
  new Promise((resolve, reject) => {
    const outgoing = get({ host: "127.0.0.1", port: proxy.portOf(8080), path, headers: { host } }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    outgoing.on("error", reject);
  });
const fromCa = async () => /^Pebble/.test(String((await served()).issuer.CN));
/** The proxy looks every five seconds, the client begins a new attempt after two at most. */
const eventually = { timeout: 600_000, interval: 1_000 };
beforeAll(async () => {
  const building = Promise.all([buildImage("deploy/acme"), buildWithDebian(), build()]);
  [acmeImage] = await building;
  for (const volume of volumes) await must("volume", "create", label, volume);
  proxy = await startProxy(
    { ACME: "on", SERVER_NAME: `${host} www.example.com` },
    { mounts: { [certificates]: "/srv/certificates" }, ports: [8080], ownNetwork: true },
  );
  await proxy.web.answer(page);
  network = await proxy.on(
    "proxy",
    "inspect",
    "--format",
    "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}",
  );
  pebble = await startPebble(network, 15);
  for (const name of [host, "www.example.com"]) await pebble.point(name, await address("proxy"));
});
afterAll(async () => {
  await Promise.all(["main", "wrong", "limited"].map((name) => docker("rm", "-f", `${id}-${name}`)));
  await pebble?.stop();
  await proxy?.stop();
  await docker("volume", "rm", "-f", ...volumes);
});

describe("ACME=on", () => {
  test("starts on the development certificate, and serves the CA's once it is there, for all names", async () => {
    expect(await fromCa()).toBe(false);
    // A request is cut off, and made again by the next start.
    await must("pause", pebble.container);
    main = await startAcme("main", { ACME_RETRY: "2" }, certificates);
    await expect.poll(async () => (await must("top", main.name)).includes("uacme"), eventually).toBe(true);
    // A CA that does not answer must not stop the stack.
    await expect.poll(() => main.isSettled(), eventually).toBe(true);
    expect((await main.lines()).at(-1)).toContain("https://ca.test/dir: the first attempt is not over after 2 s: ");
    await must("kill", main.name);
    await must("unpause", pebble.container);
    await must("start", main.name);
    await expect.poll(fromCa, eventually).toBe(true);
    expect((await served()).subjectaltname).toBe(`DNS:${host}, DNS:www.example.com`);
    expect((await send(proxy.port, { path: "/", host })).headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  test("leaves keys that their user alone may read", async () => {
    const look = "find /var/lib/acme /srv/certificates -type f -perm /077 -o -type f ! -user 101";
    expect(await must("exec", main.name, "sh", "-c", look)).toBe("");
    expect(await must("exec", main.name, "sh", "-c", "find /srv/certificates -name '*.key'")).not.toBe("");
  });

  test("redirects every other path of the plain port, also below the one of challenges", async () => {
    for (const path of ["/", "/.well-known/acme-challenge/", "/.well-known/acme-challenge/../current/server.key"]) {
      expect(await plain(path)).toBe(308);
    }
  });

  test("keeps it while the CA is away, says so, and renews it under load when the CA is back: a new key, no failed request", async () => {
    // Between two orders: a request that is cut off waits for as long as TCP does.
    const ordered = (await main.lines()).length;
    await expect.poll(async () => (await main.lines()).length, eventually).toBeGreaterThan(ordered);
    const lines = (await main.lines()).length;
    await must("network", "disconnect", network, main.name);
    await expect
      .poll(async () => (await main.lines()).slice(lines).join("\n"), eventually)
      .toMatch(/^culvert acme: https:\/\/ca\.test\/dir: GET https:\/\/ca\.test\/dir failed: .*next attempt in 1 min/m);
    expect(Number(await must("exec", main.name, "cat", "/srv/certificates/failures"))).toBeGreaterThan(0);
    const before = await served();
    expect(before.issuer.CN).toMatch(/^Pebble/);

    let renewed = false;
    const failures: unknown[] = [];
    const client = async () => {
      while (!renewed) {
        const answer = await send(proxy.port, { path: "/page", host }).catch((error) => ({ status: error }));
        if (answer.status !== 200) failures.push(answer);
      }
    };
    const load = Promise.all([client(), client()]);
    await must("network", "connect", network, main.name);
    const another = async () => (await served()).serialNumber !== before.serialNumber;
    await expect
      .poll(another, eventually)
      .toBe(true)
      .finally(() => {
        renewed = true;
      });
    await load;
    expect(failures).toEqual([]);
    expect((await served()).pubkey).not.toEqual(before.pubkey);
  });

  test("waits as long as the CA asks for when it limits orders, over a restart too, on the old certificate", async () => {
    await pebble.limit(1, "3600");
    const last = async () => (await main.lines()).at(-1);
    const until = String.raw`next attempt at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ; until then the certificate valid until \S+Z stays$`;
    await expect
      .poll(last, eventually)
      .toMatch(
        new RegExp(
          String.raw`^culvert acme: https://ca\.test/dir: too many certificates .*: the CA's rate limit; ${until}`,
        ),
      );
    const orders = (await pebble.orders()).length;
    const { serialNumber } = await served();
    await must("restart", "-t", "5", main.name);
    await expect
      .poll(last, eventually)
      .toMatch(new RegExp(`^culvert acme: https://ca.test/dir: the CA's rate limit: ${until}`));
    expect(await main.isSettled()).toBe(true);
    expect((await send(proxy.port, { path: "/page", host })).status).toBe(200);
    expect(await pebble.orders()).toHaveLength(orders);

    // As if the hour were over.
    await must("exec", main.name, "sh", "-c", "sed -i 's/^[0-9]*/1/' /var/lib/acme/*/retry-after");
    await must("restart", "-t", "5", main.name);
    await expect.poll(async () => (await served()).serialNumber !== serialNumber, eventually).toBe(true);
  });
});

test("the Retry-After of a limited request is obeyed, for a week at most", async () => {
  const inTwoHours = new Date(Date.now() + 7_200_000).toUTCString();
  const expected: [header: string, seconds: number][] = [
    ["Retry-After: 120", 120],
    ["Retry-After: 0000000120", 120],
    ["Retry-After: 08", 8],
    [`retry-after: ${inTwoHours}`, 7_200],
    ["Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ["Retry-After: 99999999999999999999", 604_800],
    ["Retry-After: 0", 0],
    ["Retry-After: soon", 0],
    ["", 0],
  ];
  const response = (headers: string) =>
    `uacme: acme_post: url=https://ca.test/x payload=\nuacme: acme_post: HTTP headers:\nHTTP/2 429\r\n${headers}\r\n`;
  // The header of an earlier response does not count.
  const logs = expected.map(
    ([header]) =>
      `${response("Retry-After: 21600")}${response(header)}uacme: the server reported the following error:\n{\n    "type": "urn:ietf:params:acme:error:rateLimited"\n}\n`,
  );
  const script = `for text; do printf "%s" "$text" >"/tmp/$((count += 1))"; done
    . /acme/order.sh; for each in $(seq "$count"); do log=/tmp/$each; echo "$(reported type)" "$(asked_to_wait)"; done`;
  const options = ["--rm", label, "--network=none", "--tmpfs=/tmp", `--env=SERVER_NAME=${host}`, "--entrypoint=sh"];
  const output = await must("run", ...options, acmeImage, "-c", script, "/acme/x", ...logs);
  const lines = output.trim().split("\n");
  expect(lines).toHaveLength(expected.length);
  for (const [index, [header, seconds]] of expected.entries()) {
    const [type, waits] = lines[index]?.split(" ") ?? [];
    expect(type).toBe("rateLimited");
    // Another process reads the clock for a date.
    const difference = Math.abs(Number(waits) - seconds);
    expect(difference, header).toBeLessThanOrEqual(header.includes(inTwoHours) ? 300 : 0);
  }
});

test("a name that leads elsewhere: one line says which, and what was answered; restarts don't reach the CA's limit", async () => {
  await pebble.point("wrong.example.com", await address("web"));
  const wrong = await startAcme("wrong", { SERVER_NAME: "wrong.example.com" });
  const failed = async () => (await wrong.lines()).filter((line) => line.includes("connection refused"));
  for (let times = 1; times <= 4; times++) {
    await expect.poll(async () => (await failed()).length, eventually).toBe(times);
    await must("restart", "-t", "5", wrong.name);
  }
  expect((await failed()).at(-1)).toMatch(
    /^culvert acme: wrong\.example\.com: .*http:\/\/wrong\.example\.com.*connection refused: point its DNS records at this host, .* next attempt in \d+ min/,
  );
  const full = "culvert acme: wrong.example.com: 4 attempts failed within the hour: next attempt in ";
  await expect.poll(async () => (await wrong.lines()).at(-1), eventually).toContain(full);
  expect(await failed()).toHaveLength(4);
});

test("a valid certificate, its renewal at the CA's limit: settled at once; names separated in any way, and texts of others in one line", async () => {
  const store = "/srv/certificates/current";
  const prepare = `mkdir ${store} && cd ${store} && echo "https://ca.test/dir ${host} www.example.com" >issued-for
    openssl req -x509 -newkey rsa:2048 -nodes -days 90 -subj /CN=x -keyout /dev/null -out server.crt
    for _ in 1 2 3 4; do date +%s; done >/var/lib/acme/attempts`;
  const limited = await startAcme("limited", { SERVER_NAME: `, ${host},,www.example.com` }, undefined, prepare);
  const valid = `culvert acme: ${host}: certificate for ${host} www.example.com from https://ca.test/dir, valid until `;
  await expect.poll(async () => (await limited.lines()).at(-1), eventually).toContain(valid);
  await expect.poll(() => limited.isSettled()).toBe(true);
  // An order at once, whose challenge is not where the proxy looks.
  await must("kill", "--signal=USR1", limited.name);
  await expect
    .poll(async () => (await limited.lines()).at(-1), eventually)
    .toContain("point its DNS records at this host");
  const said = await must("exec", limited.name, "sh", "-c", `. /acme/settings.sh; say "$(printf 'a\\nb')" c 2>&1`);
  expect(said).toBe("culvert acme: a b: c");
});

test("a certificate of your own together with ACME is rejected in one line", async () => {
  const TLS_CERT_FILE = "/tls/server.crt";
  const settings = { SENTRY_DSN: "https://key@o1.ingest.sentry.io/2", ACME: "on", TLS_CERT_FILE };
  expect(await runProxy(await build(), settings)).toEqual({
    code: 1,
    output: "culvert proxy: ACME is on, but TLS_CERT_FILE is set too: use one of them\n",
  });
});

describe("an invalid setting is rejected in one line", () => {
  const cases = [
    ["SERVER_NAME", " ,", "' ,' has no name"],
    ["SERVER_NAME", "localhost", "'localhost' is not a public name"],
    ["ACME_EMAIL", "nobody", "'nobody' is not an e-mail address"],
    ["ACME_DIRECTORY", "http://ca.test/dir", "'http://ca.test/dir' is not an https address"],
    ["ACME_CA_FILE", "/etc/hostname", "'/etc/hostname' holds no certificate"],
  ] as const;
  let outcomes: Outcome[];
  beforeAll(async () => {
    const all = cases.map(([name, value]) => ({ SERVER_NAME: host, [name]: value }));
    outcomes = await inTurn(acmeImage, "/acme/acme.sh", all, ["--tmpfs=/tmp"]);
  });
  test.each(cases.map((one, index) => [...one, index] as const))("%s=%s", (name, _value, problem, index) => {
    expect(outcomes[index]).toEqual({
      code: 1,
      output: expect.stringMatching(`^culvert acme: ${name}: ${problem}[^\n]*$`),
    });
  });
});
