/** {scheme}://{key}[:{secret}]@{host}[:{port}][{/prefix}]/{project}: https://develop.sentry.dev/sdk/foundations/client/dsn/ */
const pattern = /^(https?):\/\/(\w+)(?::\w*)?@([^:@/]+|\[.+\])(?::\d+)?((?:\/[\w-][\w.-]*)*)\/(\d{1,20})$/;
const name = /^(?=.{1,253}$)(?:\w(?:[\w-]{0,61}\w)?\.)*\w(?:[\w-]{0,61}\w)?$/;

/** Takes a DSN and returns its parts, as the URL standard writes them, or undefined if the proxy rejects it. A default port is empty. */
export function parseDsn(text: string) {
  if (text.length > 500) return undefined;
  const [, scheme = "", key = "", host = "", prefix = "", project = ""] = pattern.exec(text) ?? [];
  const url = scheme ? URL.parse(text) : null;
  if (!url || url.port === "0") return undefined;
  // URL reads 0x7f.1 as 127.0.0.1.
  if (!host.startsWith("[") && !(name.test(host) && url.hostname === host.toLowerCase())) return undefined;
  return { scheme, key, host: url.hostname, port: url.port, prefix, project };
}
