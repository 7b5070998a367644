import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edge, startEdge } from "./edge.ts";
import { headerOf } from "./recorder/client.ts";
import { send } from "./wire.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-"));

/** Makes a pair NAME.crt and NAME.key for app.example.com, with NAME as its organisation. */
function makePair(name: string) {
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /O=${name}/CN=app.example.com -days 2 -addext subjectAltName=DNS:app.example.com`;
  execFileSync(
    "openssl",
    [...request.split(" "), "-out", join(folder, `${name}.crt`), "-keyout", join(folder, `${name}.key`)],
    { stdio: "ignore" },
  );
  chmodSync(join(folder, `${name}.key`), 0o644);
}

/** Copies a pair to where the proxy looks. */
function install(name: string) {
  copyFileSync(join(folder, `${name}.key`), join(folder, "live.key"));
  copyFileSync(join(folder, `${name}.crt`), join(folder, "live.crt"));
}

let edge: Edge;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  makePair("first");
  makePair("second");
  install("first");
  edge = await startEdge(
    { SERVER_NAME: "app.example.com", HTTP3: "on", TLS_CERT_FILE: "/tls/live.crt", TLS_KEY_FILE: "/tls/live.key" },
    { mounts: { [folder]: "/tls" } },
  );
});
afterAll(() => edge?.stop());

const peer = () =>
  new Promise<{ certificate: PeerCertificate; protocol: string | null }>((resolve, reject) => {
    const socket = connect(
      { host: "127.0.0.1", port: edge.port, servername: "app.example.com", rejectUnauthorized: false },
      () => {
        resolve({ certificate: socket.getPeerCertificate(), protocol: socket.getProtocol() });
        socket.end();
      },
    );
    socket.on("error", reject);
  });

describe("a certificate of one's own", () => {
  test("is served, with HSTS", async () => {
    expect((await peer()).certificate.subject.O).toBe("first");
    expect((await send(edge.port, { path: "/", host: "app.example.com" })).headers["strict-transport-security"]).toBe(
      "max-age=31536000",
    );
    expect(
      (await send(edge.port, { path: "/", host: "localhost" })).headers["strict-transport-security"],
    ).toBeUndefined();
  });
  test("is replaced when its file changes, and a request in flight ends well", async () => {
    await edge.web.answer({ status: 200, headers: {}, body: "begun ", rest: "ended" });
    const slow = send(edge.port, { path: "/slow" });
    install("second");
    while ((await peer()).certificate.subject.O !== "second");
    await edge.web.proceed();
    expect((await slow).body).toBe("begun ended");
  });
});

test.each(["TLSv1", "TLSv1.1"] as const)("%s is refused", async (version) => {
  const attempt = new Promise((resolve, reject) => {
    const options = {
      minVersion: version,
      maxVersion: version,
      ciphers: "DEFAULT@SECLEVEL=0",
      rejectUnauthorized: false,
    };
    connect({ host: "127.0.0.1", port: edge.port, ...options }, () => resolve("connected")).on("error", reject);
  });
  await expect(attempt).rejects.toThrow();
});

test("HTTP/3 is offered where Nginx has it, and tells web the same", async () => {
  const modules = await edge.on("proxy", "exec", "nginx", "-V");
  await edge.web.answer({ status: 200, headers: {}, body: "hello" });
  const { headers } = await send(edge.port, { path: "/" });
  if (!modules.includes("http_v3_module")) {
    expect(headers["alt-svc"]).toBeUndefined();
    return;
  }
  expect(headers["alt-svc"]).toBe('h3=":8443"; ma=86400');
  const mark = await edge.web.count();
  const version = await edge.on(
    "proxy",
    "exec",
    "curl",
    "-sk",
    "--http3-only",
    "-o",
    "/dev/null",
    "-w",
    "%{http_version}",
    "https://localhost:8443/h3",
  );
  expect(version).toBe("3");
  const [request] = (await edge.web.all()).slice(mark);
  expect(request && headerOf(request, "x-forwarded-host")).toBe("localhost:8443");
});
