import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";

const keys = { ec: "ec -pkeyopt ec_paramgen_curve:prime256v1", rsa: "rsa:2048" };

/** Generates BASE.crt and BASE.key for these names, readable by any container; `organisation` identifies the pair. */
export function makePair(base: string, names: string[], organisation = "test", key: keyof typeof keys = "ec"): void {
  const request = `req -x509 -newkey ${keys[key]} -nodes -days 2 -subj /O=${organisation}/CN=${names[0]}`;
  const alternatives = `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`;
  execFileSync(
    "openssl",
    [...request.split(" "), "-addext", alternatives, "-out", `${base}.crt`, "-keyout", `${base}.key`],
    { stdio: "ignore" },
  );
  chmodSync(`${base}.key`, 0o644);
}

/** Has the certificate of an existing pair expire now: `req -x509` accepts no 0 days. */
export function expire(base: string): void {
  const [certificate, key] = [`${base}.crt`, `${base}.key`];
  execFileSync("openssl", ["x509", "-in", certificate, "-signkey", key, "-days", "0", "-out", certificate]);
}
