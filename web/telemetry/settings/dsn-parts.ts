// Copied by `make settings` from proxy/spool/src/dsn.ts, which has the comments.

const pattern = /^(https?):\/\/(\w+)(?::\w*)?@([^:@/]+|\[.+\])(?::\d+)?((?:\/[\w-][\w.-]*)*)\/(\d{1,20})$/;
const name = /^(?=.{1,253}$)(?:\w(?:[\w-]{0,61}\w)?\.)*\w(?:[\w-]{0,61}\w)?$/;

export function parseDsn(text: string) {
  if (text.length > 500) return undefined;
  const [, scheme = "", key = "", host = "", prefix = "", project = ""] = pattern.exec(text) ?? [];
  const url = scheme ? URL.parse(text) : null;
  if (!url || url.port === "0") return undefined;
  if (!host.startsWith("[") && !(name.test(host) && url.hostname === host.toLowerCase())) return undefined;
  return { scheme, key, host: url.hostname, port: url.port, prefix, project };
}
