/** The header in which the proxy sends the time at which it forwarded the request: `t=` and seconds since 1970, as load balancers do. */
const START_HEADER = "x-request-start";

const MAX_MS = 60_000;

/**
 * Takes a request's headers and the current time, in milliseconds since 1970; returns the milliseconds since the proxy forwarded
 * the request, undefined without the header or if the clocks of the two machines disagree.
 */
export function sinceProxy(headers: Pick<Headers, "get">, now: number): number | undefined {
  const start = /^t=(\d{1,11}\.\d{3})$/.exec(headers.get(START_HEADER) ?? "")?.[1];
  const ms = now - Number(start) * 1000;
  return ms >= 0 && ms < MAX_MS ? Math.round(ms) : undefined;
}
