import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { tellDeploymentId } from "./deployment-id.js";

test("the proxy learns the deployment, whatever the app answers", async () => {
  vi.stubEnv("NEXT_DEPLOYMENT_ID", "release-1");
  tellDeploymentId();
  // As a middleware that sends everybody to the sign-in.
  const server = createServer((_, response) => response.writeHead(307, { location: "/sign-in" }).end());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const idAt = async (path: string) => {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    return (await fetch(address, { redirect: "manual" })).headers.get("x-nextjs-deployment-id");
  };
  expect([await idAt("/.culvert"), await idAt("/shop/.culvert")]).toEqual(["release-1", "release-1"]);
  expect(await idAt("/page")).toBeNull();
  server.close();
});
