import { containers, of, type Resource } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

const secretName = /(DSN|DSNS|KEY|TOKEN|PASSWORD|SECRET)$/;
const secretValue = /-----BEGIN|:\/\/[^/\s]+@/;

/**
 * Manifests reference secrets and never contain them: no Secret with content, no variable or setting with a secret value. The local
 * ingest's DSN is not secret.
 */
export const noSecretsInManifests: Rule = (objects) => {
  const services = of(objects, "Service").map(({ metadata }) => metadata.name);
  const local = (value: string) =>
    services.some((name) => value.startsWith(`http://culvert@${name}.$(POD_NAMESPACE).`));
  const secret = (name: string, value: string | undefined) =>
    !!value && (secretName.test(name) || secretValue.test(value)) && !local(value);
  const entries = (where: string, list: [string, string | undefined][]) =>
    list.filter(([name, value]) => secret(name, value)).map(([name]) => `${where}: ${name} is in the manifest`);
  return [
    ...of(objects, "Secret")
      .filter(hasContent)
      .map(({ metadata }) => `Secret ${metadata.name} has content`),
    ...of(objects, "ConfigMap").flatMap(({ metadata, data }) => entries(metadata.name, Object.entries(data ?? {}))),
    ...containers(objects).flatMap(({ at, container }) =>
      entries(
        at,
        (container.env ?? []).map(({ name, value }) => [name, value]),
      ),
    ),
  ];
};

const hasContent = (secret: Resource & { data?: object; stringData?: object }) =>
  Object.keys({ ...secret.data, ...secret.stringData }).length > 0;
