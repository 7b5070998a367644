import { expect, test, vi } from "vitest";
import { listen } from "../test/listen.js";
import { tellDeploymentId } from "./deployment-id.js";

test("the proxy learns the deployment, whatever the app answers", async () => {
  vi.stubEnv("NEXT_DEPLOYMENT_ID", "release-1");
  tellDeploymentId();
  // As a middleware that sends everybody to the sign-in.
  const { url } = await listen((_, response) => response.writeHead(307, { location: "/sign-in" }).end());
  const idAt = async (path: string) =>
    (await fetch(url + path, { redirect: "manual" })).headers.get("x-nextjs-deployment-id");
  expect([await idAt("/.culvert"), await idAt("/shop/.culvert")]).toEqual(["release-1", "release-1"]);
  expect(await idAt("/page")).toBeNull();
});
