import { errorEnvelope } from "../lib/envelope.ts";
import { judgeAnswer, said } from "../lib/judge.ts";
import { randomHex } from "../lib/random.ts";
import type { Visitor } from "../lib/visitor.ts";

/** Tries to use the tunnel as a relay: to another project, another organisation, and by a method that reads. */
export async function refuse(visitor: Visitor): Promise<void> {
  const { dsn, foreignProject } = visitor.knobs;
  const queries = {
    "a foreign project": `?o=1&p=${foreignProject}`,
    "a foreign project and region": `?o=1&p=${foreignProject}&r=de`,
    "a foreign organisation": `?o=4040404&p=${dsn.project}`,
    "a project that is none": "?o=1&p=../../7",
  };
  const foreign = { ...dsn, text: dsn.text.replace(/\d+$/, foreignProject), project: foreignProject };
  for (const [what, query] of Object.entries(queries)) {
    const body = errorEnvelope({ dsn: foreign, traceId: randomHex(16), now: new Date() });
    await attempt(visitor, what, { method: "POST", query, body }, [403]);
  }
  await attempt(visitor, "a GET", { method: "GET", query: "" }, [403, 405]);
}

interface Attempt {
  method: "GET" | "POST";
  query: string;
  body?: ArrayBuffer;
}

async function attempt(
  visitor: Visitor,
  what: string,
  { method, query, body }: Attempt,
  refusals: number[],
): Promise<void> {
  const { tunnelPath } = visitor.knobs;
  const answer = await visitor.ask({ method, path: tunnelPath + query, name: `${tunnelPath} (${what})`, body });
  judgeAnswer(visitor, answer, what);
  visitor.check("tunnel_refused", refusals.includes(answer.status), `${what}: ${said(answer)}`);
}
