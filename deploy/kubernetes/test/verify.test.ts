import { type AddressInfo, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { type Answers, verify } from "./lib/fake-kubectl.ts";

const counter = 'culvert_tunnel_envelopes_total{outcome="accepted",reason=""}';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

/** A healthy cluster. Its counter increases with each scrape. */
const healthy: Answers = [
  ["*'get pods -l app.kubernetes.io/name='*metadata.name*", "echo pod-1"],
  ["*'get pods -l app.kubernetes.io/name='*nodeName*", "printf 'node-a\\nnode-b\\nnode-b\\n'"],
  ["*'get deployment,statefulset'*", "printf 'deployment.apps/web\\nstatefulset.apps/spool\\n'"],
  ["*'rollout status'*", ":"],
  ["*'printenv'*", "exit 1"],
  ["*/metrics*", `printf 'culvert_requests_total{} 1\\n${counter} %s\\n' "$(date +%s%N | cut -c 6-16)"`],
  ["*no-such-page*", "printf 404"],
  ["*'o=1&p=1'*", "printf 403"],
  ["*'exec pod-1 -c proxy -- sh -c'*", "printf 200"],
  ["*'exec spool-0'*", "echo 200"],
  ["*'get pod/pod-1'*", "echo 10.1.2.3"],
  ["*'exec pod-1 -c web'*SERVER_TUNNEL*", "echo open"],
  ["*'exec pod-1 -c web'*8081*", "echo closed"],
  ["*'get hpa -o name'", "echo horizontalpodautoscaler.autoscaling/web"],
  ["*ScalingActive*", "printf True"],
  ["*'get nodes'*", "printf 'a NoSchedule\\nb \\nc PreferNoSchedule\\n'"],
  ["*'get --raw'*", `echo '{"value":[0,"1"]}'`],
  ["*'get '*'-o name'", ":"],
];

const failures = (answers: Answers) => {
  const { status, lines } = verify(answers);
  return { status, failed: lines.filter((line) => line.startsWith("FAILED")) };
};

describe("make verify-cluster", () => {
  test("prints one line per check, and succeeds if all do", () => {
    const { status, lines } = verify(healthy);
    expect(lines.filter((line) => !/^ok {7}\S/.test(line))).toEqual([]);
    expect([status, lines.length]).toEqual([0, 13]);
  });

  test.each<[what: string, pattern: string, command: string, line: RegExp]>([
    ["workloads that cannot be listed", "*'get deployment,statefulset'*", "exit 1", /workloads: cannot be listed/],
    ["a rollout that hangs", "*'rollout status deployment.apps/web'*", "exit 1", /web: not rolled out/],
    ["a failing page", "*'exec pod-1 -c proxy -- sh -c'*'request / '*|*'request /'", "printf 503", /page \/: 503/],
    ["an unknown page that answers 200", "*no-such-page*", "printf 200", /unknown page: 200/],
    ["a rejected envelope", "*'request /monitoring -H'*", "printf 503", /envelope: 503/],
    [
      "an envelope that the spool queued",
      "*/metrics*",
      `echo '${counter} 7'`,
      /envelope: accepted, but not acknowledged/,
    ],
    ["an open relay", "*'o=1&p=1'*", "printf 200", /foreign project: 200/],
    ["policies that are not enforced", "*'-c web'*8081*", "echo open", /policies: not enforced/],
    ["policies that block too much", "*SERVER_TUNNEL*", "echo closed", /web does not reach/],
    ["policies that cannot be checked", "*'-c web'*8081*", "exit 1", /policies: could not be checked/],
    ["a spool that cannot write", "*'exec spool-0'*", "echo 503", /spool: 503/],
    ["metrics that are not scraped", "*'get --raw'*", `echo '{"result":[]}'`, /not scraped/],
    ["an autoscaler without metrics", "*ScalingActive*", "printf False", /no metrics: is metrics-server/],
    ["all pods on one node", "*name=web*nodeName*", "printf 'node-a\\nnode-a\\n'", /web: all on one node/],
  ])("finds %s", (_, pattern, command, line) => {
    const { status, failed } = failures([[pattern, command], ...healthy]);
    expect(failed).toContainEqual(expect.stringMatching(line));
    expect(status).toBe(1);
  });

  test("skips components that are not used", () => {
    const without: Answers = ["networkpolicy", "statefulset/spool", "podmonitor", "hpa"].map((name) => [
      `*'get ${name}'*`,
      "exit 1",
    ]);
    const { status, lines } = verify([...without, ...healthy]);
    expect(lines.filter((line) => line.startsWith("skipped"))).toHaveLength(4);
    expect(status).toBe(0);
  });

  test("does not count unschedulable nodes", () => {
    const { status, lines } = verify([
      ["*'get nodes'*", "printf 'a NoSchedule\\nb \\n'"],
      ["*nodeName*", "printf 'b\\nb\\n'"],
      ...healthy,
    ]);
    expect(lines.filter((line) => line.includes("one node or one pod"))).toHaveLength(2);
    expect(status).toBe(0);
  });

  test.skipIf(!hasIpv6)("finds an open port at an IPv6 address with the code that it runs in web", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "::1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const run = `for code; do :; done; exec node -e "$(printf '%s\n' "$code" | sed s/8081/${port}/)"`;
      const answers: Answers = [["*'get pod/pod-1'*", "echo ::1"], ["*'exec pod-1 -c web'*", run], ...healthy];
      const { lines } = verify(answers, "culvert", { SERVER_TUNNEL: `http://[::1]:${port}/monitoring` });
      expect(lines).toContainEqual(expect.stringMatching(/^FAILED +network policies: not enforced/));
    } finally {
      server.close();
    }
  });

  test("fails with one line if there is no deployment", () => {
    const { status, lines } = verify([], "shop");
    expect(lines).toEqual([expect.stringMatching(/^culvert: NAMESPACE: 'shop' has no running proxy and web:/)]);
    expect(status).toBe(1);
  });
});
