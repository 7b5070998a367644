/** The spool's address. */
interface Spool {
  url: string;
}

/** The value of one of the spool's metrics, with its labels as in the text format; 0 if it is not there. */
export async function metric(spool: Spool, name: string): Promise<number> {
  const text = await (await fetch(`${spool.url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`culvert_spool_${name} `));
  return Number(line?.split(" ").at(-1) ?? 0);
}

/** How many envelopes the spool has accepted, in all categories. */
export async function acceptedEnvelopes(spool: Spool): Promise<number> {
  const text = await (await fetch(`${spool.url}/metrics`)).text();
  const counts = text.matchAll(/^culvert_spool_accepted_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Whether all queues are empty. */
export async function isEmpty(spool: Spool): Promise<boolean> {
  const text = await (await fetch(`${spool.url}/metrics`)).text();
  return !text.includes("\nculvert_spool_queued_envelopes{");
}
