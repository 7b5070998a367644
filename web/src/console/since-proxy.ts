/** The header in which the proxy says when it handed the request on: `t=` and seconds since 1970, as load balancers write it. */
const START_HEADER = "x-request-start";

const LONGEST_MS = 60_000;

/**
 * Takes a request's headers and the time now, in milliseconds since 1970; returns for how many milliseconds the request has been
 * on its way from the proxy, undefined when nothing tells or the two machines' clocks disagree.
 */
export function sinceProxy(headers: Pick<Headers, "get">, now: number): number | undefined {
  const start = /^t=(\d{1,11}\.\d{3})$/.exec(headers.get(START_HEADER) ?? "")?.[1];
  const ms = now - Number(start) * 1000;
  return ms >= 0 && ms < LONGEST_MS ? Math.round(ms) : undefined;
}
