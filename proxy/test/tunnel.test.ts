import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { envelope, ingestPort, useTunnel } from "./use-tunnel.ts";
import { type Request, send, sendH2 } from "./wire.ts";

const versions = { "HTTP/1.1": send, "HTTP/2": sendH2 };
type Version = keyof typeof versions;

describe.each(["http", "https"] as const)("to an %s ingest", (scheme) => {
  const shared = useTunnel(scheme);

  describe.each(Object.keys(versions) as Version[])("over %s", (version) => {
    const through = (request: Partial<Request>) => shared.through(request, versions[version]);

    describe("an envelope reaches the project of its DSN and no other", () => {
      test.each([
        ["/monitoring", "ingest", "/prefix/api/7/envelope/"],
        ["/monitoring?o=42&p=43&r=us", "o42.ingest.us.sentry.io", "/api/43/envelope/"],
        ["/monitoring?o=44&p=45", "o44.ingest.sentry.io", "/api/45/envelope/"],
      ])("POST %s", async (path, host, url) => {
        const { answer, received } = await through({ path });
        expect(answer).toMatchObject({ status: 200, body: "" });
        expect(received).toHaveLength(1);
        expect(received[0]).toMatchObject({ method: "POST", url });
        expect(Buffer.from(received[0]?.body ?? "", "base64").toString()).toBe(envelope);
        expect(received[0] && headerOf(received[0], "host")).toBe(`${host}:${ingestPort[scheme]}`);
      });
    });

    describe("what is rejected reaches neither ingest nor web", () => {
      const args = [
        ...[
          "o=42&p=44&r=us",
          "o=42&p=43",
          "o=42&p=43&r=de",
          "o=43&p=43&r=us",
          "o=42",
          "p=43",
          "o=&p=",
          "p=43&o=42&r=us",
        ],
        ...["o=42&p=43&r=us&r=us", "o=42&o=42&p=43&r=us", "o=%34%32&p=43&r=us", "o=42&p=43&r=us&x=1", "O=42&P=43&R=us"],
        ...["o=42&p=43&r=us.evil.example", "o=42%26p=43", `o=${"4".repeat(4000)}&p=43`],
      ];
      const methods = ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"];
      const types = ["application/json", "multipart/form-data; boundary=x", "text/html", "text/plainly"];
      const paths = ["/monitoring/", "/Monitoring", "/MONITORING/csp", "/monitoring/envelope", "/monitoring/csp/"];
      test.each<[number, Partial<Request>]>([
        ...args.map((query): [number, Partial<Request>] => [403, { path: `/monitoring?${query}` }]),
        ...methods.map((method): [number, Partial<Request>] => [405, { method, body: undefined }]),
        ...types.map((type): [number, Partial<Request>] => [415, { headers: { "content-type": type } }]),
        ...paths.map((path): [number, Partial<Request>] => [404, { path }]),
        [413, { body: Buffer.alloc((20 << 20) + 1) }],
      ])("%i: %j", async (status, request) => {
        const mark = await shared.proxy.web.count();
        const { answer, received } = await through(request);
        expect(answer.status).toBe(status);
        expect(answer.headers.allow).toBe(status === 405 ? "POST" : undefined);
        expect(answer.headers["x-robots-tag"]).toBe(status === 404 ? "noindex" : undefined);
        if (status === 403) expect(JSON.parse(answer.body).reason).toBe("these arguments select no configured project");
        expect([received, await shared.proxy.web.count()]).toEqual([[], mark]);
      });
    });

    test.each(["/%6donitoring", "//monitoring", "/x/../monitoring"])(
      "%s is the tunnel in another spelling",
      async (path) => {
        expect((await through({ path })).received).toHaveLength(1);
      },
    );
  });
});
