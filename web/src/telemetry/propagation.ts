/**
 * Takes the address of an API and returns the only targets that may be sent trace headers: that API's origin.
 * A pattern, because the SDK matches a string anywhere in an address, query included.
 */
export function propagationTargets(api: URL): RegExp[] {
  const origin = api.origin.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [new RegExp(`^${origin}(?:[/?#]|$)`, "i")];
}
