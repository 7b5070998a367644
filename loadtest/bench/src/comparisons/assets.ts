import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf } from "../contenders.ts";
import type { Script } from "../load.ts";
import type { Comparison } from "../markdown.ts";

/** One file below /_next/static/, which a proxy can serve without the app. */
export async function assets(bench: Bench): Promise<Comparison> {
  const path = findAsset(await bench.testbed.exec("sink", "curl", "-s", `${originOf("web")}/`));
  const size = await bench.testbed.exec("sink", "sh", "-c", 'curl -s "$0" | wc -c', `${originOf("web")}${path}`);
  const plan = (name: Contender, charged: string[], script: Script = "browser") => ({
    charged,
    run: () => bench.wrk(script, `${originOf(name)}${path}`, bench.options.connections),
  });
  const samples = await bench.compare({
    direct: plan("web", ["web"]),
    proxy: plan("proxy", ["proxy", "web"]),
    "direct, uncompressed": plan("web", ["web"], "plain"),
    "proxy, uncompressed": plan("proxy", ["proxy", "web"], "plain"),
    "bare, uncompressed": plan("bare", ["bare", "web"], "plain"),
  });
  const { direct, proxy } = samples;
  const plain = (name: "direct" | "proxy" | "bare") => samples[`${name}, uncompressed`];
  return {
    title: "A static asset",
    how:
      `\`${path}\`, ${size} bytes, ${bench.options.connections} connections, as a browser requests it (compressed) and uncompressed. ` +
      "Direct is plain HTTP. Bare is a minimal `proxy_cache` with the proxy's TLS: the upper limit.",
    samples,
    claims: [
      claim("proxy / direct, files per second", proxy, direct, "perSecond", { atLeast: 10 }),
      claim("proxy / direct, files per CPU second", proxy, direct, "perCpuSecond", { atLeast: 10 }),
      claim("proxy / direct, uncompressed, files per CPU second", plain("proxy"), plain("direct"), "perCpuSecond"),
      claim("bare / direct, uncompressed, files per CPU second", plain("bare"), plain("direct"), "perCpuSecond"),
      claim("proxy / bare, uncompressed, files per CPU second", plain("proxy"), plain("bare"), "perCpuSecond"),
    ],
  };
}

/** The first script that a page loads; throws if it loads none. */
export function findAsset(html: string): string {
  const path = /\/_next\/static\/[^"'?\s\\]+\.js/.exec(html)?.[0];
  if (!path) throw new Error("the page loads no script from /_next/static/");
  return path;
}
