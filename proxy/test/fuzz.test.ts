import fc from "fast-check";
import { expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { useProxy } from "./use-proxy.ts";
import { raw } from "./wire.ts";

// A run that fails names its seed; FUZZ_SEED repeats it. Each run has another one. The nightly run has more.
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const runs = Number(process.env.FUZZ_RUNS ?? 500);

/** What may arrive, by the arguments that select it. */
const served: Record<string, string[]> = {
  "": ["/prefix/api/7/envelope/", "/prefix/api/7/security/?sentry_key=key"],
  "o=42&p=43&r=us": ["/api/43/envelope/", "/api/43/security/?sentry_key=second"],
};

const textOf = (unit: string) => fc.string({ unit: fc.constantFrom(...unit), maxLength: 40 });
const printable = "abZ09-_./\\:;,=&?#%+*'\"<>{}[]()|~^`!@$";
const randomText = fc.oneof(textOf(printable), textOf(printable), textOf(`${printable} \t\r\n\0\u007f\u00e9\u2603`));
const oneOf = (words: string) => fc.constantFrom(...words.split(" "));
const path = fc.oneof(
  oneOf("/monitoring /monitoring /monitoring/csp"),
  oneOf("/MONITORING /monitoring/csp/../ /monitoring%2f /monitoring%00 /./monitoring /%6d%6f%6eitoring //monitoring"),
  randomText.map((text) => `/monitoring${text}`),
);
const value = fc.oneof(
  oneOf("42 43 7 us de %34%32 0x2a ../../44 evil.example 42%0d%0aX:y"),
  fc.constantFrom("", "42\u0000", "42%0d%0aX: y", "9".repeat(300)),
  randomText,
);
const argument = fc.tuple(oneOf("o p r O x sentry_key o[] %6f"), value).map((pair) => pair.join("="));
const query = fc.oneof(
  fc.constantFrom("", "?o=42&p=43&r=us"),
  fc
    .tuple(fc.array(argument, { minLength: 1, maxLength: 5 }), fc.constantFrom("&", "&", ";", "&&", "%26"))
    .map(([list, glue]) => `?${list.join(glue)}`),
);
const type = fc.oneof(
  oneOf("text/plain;charset=UTF-8 application/x-sentry-envelope application/csp-report application/json text/html"),
  randomText,
);
const headers = fc.record(
  {
    "content-type": type,
    "content-encoding": fc.constantFrom("gzip", "br", "zstd", "x"),
    cookie: fc.constant("session=stolen"),
    "x-forwarded-for": fc.constant("6.6.6.6"),
    "x-sentry-auth": fc.constant("Sentry sentry_key=stolen"),
    "x-anything": randomText,
  },
  { requiredKeys: [] },
);
const post = fc.constant("POST");
const method = fc.oneof(post, post, post, oneOf("GET PUT DELETE OPTIONS HEAD PATCH PROPFIND X"));
const body = fc.oneof(
  fc.constantFrom("{}\n", "", '{"dsn":"http://stolen@evil.example/9"}\n{"type":"event"}\n{}\n'),
  randomText.map((text) => text.repeat(50)),
);
const request = fc.record({ method, path, query, headers, body });
type Generated = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** What reaches each address whatever the seed, among the generated ones. */
const plain = Object.keys(served).flatMap((selection) =>
  ["/monitoring", "/monitoring/csp"].map((path) => {
    const headers = { "content-type": "application/csp-report" };
    return { method: "POST", path, query: selection && `?${selection}`, headers, body: "{}\n" };
  }),
);

const shared = useProxy({
  TUNNEL_ALLOWED_DSNS: "http://second@o42.ingest.us.sentry.io:9000/43",
  TUNNEL_RATE_PER_CLIENT: "999999",
});

const mark = (index: number) => `fuzz/${index}`;

test(`${runs} generated envelopes (seed ${seed}) reach the project they select and no other, and no client error is a 5xx`, async () => {
  const requests: Generated[] = [...plain, ...fc.sample(request, { numRuns: runs, seed })];
  const sendRaw = async ({ method, path, query, headers, body }: Generated, index: number) => {
    const lines = Object.entries(headers).map(([name, part]) => `${name}: ${part}`);
    const added = ["Host: localhost", "Connection: close", `User-Agent: ${mark(index)}`];
    const head = [`${method} ${path}${query} HTTP/1.1`, ...added, ...lines, `Content-Length: ${body.length}`, "", body];
    const answer = await raw(shared.proxy.port, head.join("\r\n")).catch(() => "");
    return `${/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0} ${head[0]}`;
  };

  const answers: string[] = [];
  for (let from = 0; from < requests.length; from += 50) {
    const batch = requests.slice(from, from + 50).map((next, index) => sendRaw(next, from + index));
    answers.push(...(await Promise.all(batch)));
  }

  expect(answers.filter((answer) => answer.startsWith("5"))).toEqual([]);
  expect(answers.filter((answer) => answer.startsWith("0")).length).toBeLessThan(runs / 4);
  const reached = await shared.proxy.ingest.all();
  expect(reached.length).toBeGreaterThan(runs / 50);
  const astray = reached.flatMap((received) => {
    const sent = requests[Number(headerOf(received, "user-agent")?.slice("fuzz/".length))];
    const address = sent && sent.path + sent.query;
    const [, selection = ""] = /^[^?#]*\?([^#]*)/.exec(address ?? "") ?? [];
    const right = sent && received.method === "POST" && served[selection]?.includes(received.url);
    return right ? [] : [`${received.method} ${received.url} of ${address}`];
  });
  expect(astray).toEqual([]);
  for (const urls of Object.values(served)) expect(reached.map(({ url }) => url)).toEqual(expect.arrayContaining(urls));
  expect(reached.filter(({ rawHeaders }) => /stolen|6\.6\.6\.6/.test(rawHeaders.join()))).toEqual([]);
  expect(await shared.proxy.log()).not.toMatch(/exited on signal|\[(alert|emerg|crit)\]/);
});
