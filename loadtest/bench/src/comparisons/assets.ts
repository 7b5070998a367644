import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf } from "../contenders.ts";
import type { Comparison } from "../report.ts";

/** One file below /_next/static/: what a proxy can serve without the app. */
export async function assets(bench: Bench): Promise<Comparison> {
  const path = findAsset(await bench.stage.exec("sink", "curl", "-s", `${originOf("web")}/`));
  const asset = await bench.stage.exec("sink", "curl", "-s", `${originOf("web")}${path}`);
  const plan = (name: Contender, charged: string[]) => ({
    charged,
    run: () => bench.wrk("page", `${originOf(name)}${path}`, bench.knobs.connections),
  });
  const samples = await bench.compare({ direct: plan("web", ["web"]), edge: plan("edge", ["edge", "web"]) });
  const { direct, edge } = samples;
  return {
    title: "A static asset",
    how: `\`${path}\`, ${asset.length.toLocaleString("en-GB")} characters, uncompressed, ${bench.knobs.connections} connections.`,
    samples,
    claims: [
      claim("edge / direct, files per second", edge, direct, "perSecond", { atLeast: 10 }),
      claim("edge / direct, files per second of CPU", edge, direct, "perCore", { atLeast: 10 }),
    ],
  };
}

/** The first script that a page loads; throws when it loads none. */
export function findAsset(html: string): string {
  const path = /\/_next\/static\/[^"'?\s\\]+\.js/.exec(html)?.[0];
  if (!path) throw new Error("the page loads no script from /_next/static/");
  return path;
}
