import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";

const server = createServer((request, response) => {
  // As a middleware that sends everybody to the sign-in.
  response.writeHead(307, { location: "/sign-in", via: request.url }).end();
}).listen(0);
afterEach(() => void vi.unstubAllEnvs());

const idAt = async (path: string) => {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return (await fetch(address, { redirect: "manual" })).headers.get("x-nextjs-deployment-id");
};

test("the proxy learns the deployment, whatever the app answers", async () => {
  const { tellDeploymentId } = await import("./deployment-id.js");
  vi.stubEnv("NEXT_DEPLOYMENT_ID", "");
  tellDeploymentId();
  expect(await idAt("/.culvert")).toBeNull();
  vi.stubEnv("NEXT_DEPLOYMENT_ID", "release-1");
  tellDeploymentId();
  expect([await idAt("/.culvert"), await idAt("/shop/.culvert"), await idAt("/page")]).toEqual([
    ...["release-1", "release-1"],
    null,
  ]);
  server.close();
});
