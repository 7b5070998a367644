import { connect } from "node:tls";
import { expect, test } from "vitest";
import { headerOf } from "./recorder/client.ts";
import { useEdge } from "./use-edge.ts";
import { send } from "./wire.ts";

const shared = useEdge({ HTTP3: "on" });

test.each(["TLSv1", "TLSv1.1"] as const)("%s is refused", async (version) => {
  const attempt = new Promise((resolve, reject) => {
    const options = {
      minVersion: version,
      maxVersion: version,
      ciphers: "DEFAULT@SECLEVEL=0",
      rejectUnauthorized: false,
    };
    connect({ host: "127.0.0.1", port: shared.edge.port, ...options }, () => resolve("connected")).on("error", reject);
  });
  await expect(attempt).rejects.toThrow();
});

test("HTTP/3 is offered where Nginx has it, and tells web the same", async () => {
  const modules = await shared.edge.on("proxy", "exec", "nginx", "-V");
  await shared.edge.web.answer({ status: 200, headers: {}, body: "hello" });
  const { headers } = await send(shared.edge.port, { path: "/" });
  if (!modules.includes("http_v3_module")) {
    expect(headers["alt-svc"]).toBeUndefined();
    return;
  }
  expect(headers["alt-svc"]).toBe('h3=":8443"; ma=86400');
  const mark = await shared.edge.web.count();
  const version = await shared.edge.on(
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
  const [request] = (await shared.edge.web.all()).slice(mark);
  expect(request && headerOf(request, "x-forwarded-host")).toBe("localhost:8443");
});
