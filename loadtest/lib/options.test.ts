import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseDsn, tunnelArguments } from "./dsn.ts";
import { isLocalIngest, OptionError, readOptions } from "./options.ts";

describe("options", () => {
  it("have defaults for a stack on this machine; an empty value counts as not set", () => {
    const defaults = { baseUrl: "https://localhost:8443", pages: ["/"], tunnelPath: "", trace: false };
    expect(readOptions({ RATE: "", DURATION: " ", BASE_URL: "" })).toMatchObject(defaults);
    expect(readOptions({}).rate).toBeUndefined();
    expect(readOptions({ PAGES: "off" }).pages).toEqual([]);
    expect(readOptions({ TRACE: "off", RATE: "" }).declared).toEqual(["TRACE"]);
  });

  it("are read, also lists and pairs", () => {
    const address = {
      BASE_URL: "https://[::1]:8443/",
      RATE: "0.5",
      DURATION: "10m",
      PAGES: "/a, /b",
      ACTION_PAGE: "off",
    };
    const pairs = { JOURNEYS: "browse:80,envelopes", EXPECT_TEXT: "/=Welcome home,/products=a=b" };
    expect(readOptions({ ...address, ...pairs })).toMatchObject({
      baseUrl: "https://[::1]:8443",
      rate: 0.5,
      duration: 600,
      pages: ["/a", "/b"],
      actionPage: "",
      journeys: { browse: "80", envelopes: "" },
      expectText: { "/": "Welcome home", "/products": "a=b" },
    });
  });

  const invalid = {
    BASE_URL: ["localhost:8443", "https://localhost/path"],
    PAGES: ["/a,b", "https://elsewhere/"],
    RATE: ["0", "fast", "-1"],
    DURATION: ["10", "0s"],
    MAX_VUS: ["0", "10.5"],
    DELIVERY_WAIT: ["soon"],
    TUNNEL_PATH: ["/", "/r?x=1"],
    TRACE_PAGE: ["trace"],
    INGEST: ["localhost:8970"],
    JOURNEYS: ["browse:", "browse:0"],
    TRACE: ["yes"],
    ROUTER: ["none"],
    NOINDEX: ["both"],
    SEND_EVENTS: ["true"],
    SENTRY_DSN: ["https://host/1"],
    EXPECT_SAMPLE_RATE: ["2", "all"],
    SERVER_TIMING: ["yes"],
    COMPRESSED: ["gzip"],
    EXPECT_TEXT: ["Welcome"],
    EXPECT_HEADERS: ["a b", "a~", "/a:", "/a b:c"],
  };
  it.each(Object.entries(invalid))(
    "%s: each of %j is rejected in one line that names it and says how to fix it",
    (name, values) => {
      for (const value of values) {
        const read = () => readOptions({ [name]: value });
        expect(read, value).toThrow(OptionError);
        expect(read, value).toThrow(new RegExp(`^${name} .*: .+$`));
      }
    },
  );

  it.each([
    [{ TARGET_NAMES: "PAGES EXPECT_RELESE" }, "EXPECT_RELESE is no setting: did you mean EXPECT_RELEASE?"],
    [{ EXPECT_RELESE: "9.9.9" }, "EXPECT_RELESE is no setting: did you mean EXPECT_RELEASE?"],
  ])("name the setting that is nearest to an unknown one: %j", (env, words) => {
    expect(() => readOptions(env)).toThrow(words);
  });

  it("leave other names of the environment and of k6 alone", () => {
    expect(() =>
      readOptions({ TUNNEL_TOKEN: "x", HOME: "/", TARGET_NAMES: "K6_BROWSER_ARGS OUT LIMITS" }),
    ).not.toThrow();
  });

  it("check compressed envelopes in an old TARGET file, too", () => {
    const read = (env: object) => readOptions({ TUNNEL_PATH: "/monitoring", ...env }).compressed;
    expect([{}, { TARGET: "a" }, { TARGET: "a", COMPRESSED: "off" }].map(read)).toEqual([false, true, false]);
  });

  it("send the local ingest's DSN to this machine only", () => {
    const foreign = { BASE_URL: "https://shop.example", TUNNEL_PATH: "/monitoring" };
    expect(() => readOptions(foreign)).toThrow(/^SENTRY_DSN is not set for BASE_URL https:.*: give the target's/);
    expect(readOptions({ ...foreign, TUNNEL_PATH: "off" }).tunnelPath).toBe("");
    expect(readOptions({ ...foreign, SENTRY_DSN: "https://k@o1.ingest.sentry.io/7" }).dsn.project).toBe("7");
    expect(readOptions({ BASE_URL: "https://127.0.0.1:9443" }).dsn.publicKey).toBe("culvert");
  });

  it("tell a local ingest from a project that stores events for good", () => {
    const local = (host: string) => isLocalIngest(readOptions({ SENTRY_DSN: `https://k@${host}/7` }).dsn);
    expect(["ingest", "recorder:9000", "127.0.0.1", "ingest.culvert.svc.cluster.local"].filter(local)).toHaveLength(4);
    expect(["o1.ingest.sentry.io", "sentry.example.com", "203.0.113.7"].filter(local)).toEqual([]);
  });

  it("take a desktop's BROWSER for none of theirs", () => {
    const read = (BROWSER: string) => readOptions({ BROWSER }).browser;
    expect(["/usr/bin/firefox", "", "off"].map(read)).toEqual([true, true, false]);
  });

  it("never repeats a DSN, which holds a key", () => {
    expect(() => readOptions({ SENTRY_DSN: "https://secretkey@" })).toThrow(/^(?!.*secretkey)/);
  });
});

type Vectors = { valid: Record<string, string>; invalid: string[] };
const file = new URL("../../deploy/test/vectors/dsn.json", import.meta.url);
const { valid, invalid } = JSON.parse(readFileSync(file, "utf8")) as Vectors;

describe("a DSN", () => {
  it("is accepted or rejected as by proxy, spool and web", () => {
    expect(Object.keys(valid).filter((dsn) => !parseDsn(dsn))).toEqual([]);
    expect(invalid.filter(parseDsn)).toEqual([]);
  });

  it.each([
    ["https://k@o123.ingest.sentry.io/7", "?o=123&p=7"],
    ["https://k@o123.ingest.de.sentry.io/7", "?o=123&p=7&r=de"],
    ["https://k:secret@sentry.example:9000/some/prefix/7", ""],
  ])("%s becomes the query %j: only Sentry's own hosts have one", (text, query) => {
    const dsn = parseDsn(text);
    expect(dsn).toMatchObject({ publicKey: "k", project: "7" });
    expect(dsn && tunnelArguments(dsn)).toBe(query);
  });
});
