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

/** Generates BASE.crt, which has expired, for the key of an existing pair, BASE.key. */
export function expire(base: string, organisation: string): void {
  // `req -x509` accepts no 0 days.
  const request = ["req", "-new", "-key", `${base}.key`, "-subj", `/O=${organisation}`, "-out", `${base}.csr`];
  execFileSync("openssl", request, { stdio: "ignore" });
  const sign = ["x509", "-req", "-days", "0", "-in", `${base}.csr`, "-signkey", `${base}.key`, "-out", `${base}.crt`];
  execFileSync("openssl", sign, { stdio: "ignore" });
}
