import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";

/** Makes a pair BASE.crt and BASE.key for these names, with `organisation` to know it by; any container may read it. */
export function makePair(base: string, names: string[], organisation = "test"): void {
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /O=${organisation}/CN=${names[0]}`;
  const alternatives = `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`;
  execFileSync(
    "openssl",
    [...request.split(" "), "-addext", alternatives, "-out", `${base}.crt`, "-keyout", `${base}.key`],
    { stdio: "ignore" },
  );
  chmodSync(`${base}.key`, 0o644);
}
