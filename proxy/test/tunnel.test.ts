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

    describe("arguments that select no configured project get 403, and nothing reaches the ingest", () => {
      test.each([
        "?o=42&p=44&r=us",
        "?o=42&p=43",
        "?o=42&p=43&r=de",
        "?o=43&p=43&r=us",
        "?o=42",
        "?p=43",
        "?o=&p=",
        "?p=43&o=42&r=us",
        "?o=42&p=43&r=us&r=us",
        "?o=42&o=42&p=43&r=us",
        "?o=%34%32&p=43&r=us",
        "?o=42&p=43&r=us&x=1",
        "?O=42&P=43&R=us",
        "?o=42&p=43&r=us.evil.example",
        "?o=42%26p=43",
        `?o=${"4".repeat(4000)}&p=43`,
      ])("%s", async (query) => {
        const { answer, received } = await through({ path: `/monitoring${query}` });
        expect(answer.status).toBe(403);
        expect(answer.headers["cache-control"]).toBe("no-cache");
        expect(JSON.parse(answer.body).reason).toBe("these arguments select no configured project");
        expect(received).toEqual([]);
      });
    });

    describe("other requests are rejected before the ingest is asked", () => {
      test.each(["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"])("%s gets 405", async (method) => {
        const { answer, received } = await through({ method, body: undefined });
        expect(answer.status).toBe(405);
        expect(answer.headers["cache-control"]).toBe("no-cache");
        expect(answer.headers.allow).toBe("POST");
        expect(received).toEqual([]);
      });
      test.each([
        "application/json",
        "multipart/form-data; boundary=x",
        "text/html",
        "application/x-www-form-urlencoded",
        "text/plainly",
      ])("%s gets 415", async (type) => {
        const { answer, received } = await through({ headers: { "content-type": type } });
        expect(answer.status).toBe(415);
        expect(answer.headers["cache-control"]).toBe("no-cache");
        expect(received).toEqual([]);
      });
      test("20 MB and a byte gets 413", async () => {
        const { answer, received } = await through({ body: Buffer.alloc((20 << 20) + 1) });
        expect(answer.status).toBe(413);
        expect(received).toEqual([]);
      });
      test.each(["/monitoring/", "/Monitoring", "/MONITORING/csp", "/monitoring/envelope", "/monitoring/csp/"])(
        "%s gets 404 from the proxy, never the app",
        async (path) => {
          const mark = await shared.proxy.web.count();
          const { answer, received } = await through({ path });
          expect(answer.status).toBe(404);
          expect(answer.headers["x-robots-tag"]).toBe("noindex");
          expect(received).toEqual([]);
          expect(await shared.proxy.web.count()).toBe(mark);
        },
      );
      test.each(["/%6donitoring", "//monitoring", "/x/../monitoring"])(
        "%s is the tunnel in another spelling",
        async (path) => {
          expect((await through({ path })).received).toHaveLength(1);
        },
      );
    });
  });
});
