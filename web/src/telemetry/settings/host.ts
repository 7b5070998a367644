const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`);
const label = /^\w(?:[\w-]{0,61}\w)?$/;

/**
 * Takes a host and returns whether it is a DNS name, an IPv4 address of four decimal octets, or an IPv6 address in brackets:
 * the forms that all parsers read alike. A host that ends in a number is an IPv4 address or invalid:
 * https://url.spec.whatwg.org/#ends-in-a-number-checker
 */
export function isHost(host: string): boolean {
  if (host.startsWith("[")) return host.endsWith("]") && isIpv6(host.slice(1, -1));
  return ipv4.test(host) || isName(host);
}

/** Allows underscores, which Docker's names have. */
function isName(host: string): boolean {
  const labels = host.split(".");
  return host.length <= 253 && labels.every((one) => label.test(one)) && !/(?:^|\.)(?:\d+|0x[\da-f]*)$/i.test(host);
}

/**
 * https://www.rfc-editor.org/rfc/rfc4291#section-2.2; `::` stands for two groups or more, as RFC 5952 (4.2.2) says and Nginx requires.
 */
function isIpv6(text: string): boolean {
  // The last 32 bits may be written as IPv4.
  const end = text.lastIndexOf(":") + 1;
  const plain = ipv4.test(text.slice(end)) ? `${text.slice(0, end)}0:0` : text;
  const halves = plain.split("::");
  const groups = halves.flatMap((half) => (half === "" && halves.length === 2 ? [] : half.split(":")));
  const isWhole = halves.length === 2 ? groups.length <= 6 : halves.length === 1 && groups.length === 8;
  return isWhole && groups.every((group) => /^[\da-f]{1,4}$/i.test(group));
}
