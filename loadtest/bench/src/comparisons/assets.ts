import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf } from "../contenders.ts";
import type { Script } from "../load.ts";
import type { Comparison } from "../report.ts";

/** One file below /_next/static/: what a proxy can serve without the app. */
export async function assets(bench: Bench): Promise<Comparison> {
  const path = findAsset(await bench.stage.exec("sink", "curl", "-s", `${originOf("web")}/`));
  const size = await bench.stage.exec("sink", "sh", "-c", 'curl -s "$0" | wc -c', `${originOf("web")}${path}`);
  const plan = (name: Contender, charged: string[], script: Script = "browser") => ({
    charged,
    run: () => bench.wrk(script, `${originOf(name)}${path}`, bench.knobs.connections),
  });
  const samples = await bench.compare({
    direct: plan("web", ["web"]),
    edge: plan("edge", ["edge", "web"]),
    "direct, uncompressed": plan("web", ["web"], "plain"),
    "edge, uncompressed": plan("edge", ["edge", "web"], "plain"),
    "bare, uncompressed": plan("bare", ["bare", "web"], "plain"),
  });
  const { direct, edge } = samples;
  const plain = (name: "direct" | "edge" | "bare") => samples[`${name}, uncompressed`];
  return {
    title: "A static asset",
    how:
      `\`${path}\`, ${size} bytes, ${bench.knobs.connections} connections, as a browser asks for it (compressed) and uncompressed. ` +
      "Direct is plain HTTP. Bare is a minimal `proxy_cache` with the edge's TLS: the limit.",
    samples,
    claims: [
      claim("edge / direct, files per second", edge, direct, "perSecond", { atLeast: 10 }),
      claim("edge / direct, files per CPU second", edge, direct, "perCore", { atLeast: 10 }),
      claim("edge / direct, uncompressed, files per CPU second", plain("edge"), plain("direct"), "perCore"),
      claim("bare / direct, uncompressed, files per CPU second", plain("bare"), plain("direct"), "perCore"),
      claim("edge / bare, uncompressed, files per CPU second", plain("edge"), plain("bare"), "perCore"),
    ],
  };
}

/** The first script that a page loads; throws when it loads none. */
export function findAsset(html: string): string {
  const path = /\/_next\/static\/[^"'?\s\\]+\.js/.exec(html)?.[0];
  if (!path) throw new Error("the page loads no script from /_next/static/");
  return path;
}
